// SPDX-License-Identifier: Apache-2.0
#include "controller/core/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "controller/core/bug.h"

namespace berth {

std::string ObjectRef::str() const {
  return namespace_.empty() ? fmt::format("{}/{}", kind, name)
                            : fmt::format("{}/{}/{}", kind, namespace_, name);
}

const char* to_string(Verb verb) {
  switch (verb) {
    case Verb::kCreate:
      return "create";
    case Verb::kJsonPatch:
      return "jsonpatch";
    case Verb::kMergePatch:
      return "mergepatch";
    case Verb::kStatusPatch:
      return "statuspatch";
    case Verb::kDelete:
      return "delete";
    case Verb::kEvict:
      return "evict";
  }
  return "?";
}

std::string question(const Step& step) {
  if (const auto* ask = std::get_if<Ask>(&step))
    return fmt::format("evict {} {}", ask->pod.str(), ask->pod.uid);
  if (const auto* guard = std::get_if<Guard>(&step))
    return fmt::format("guard {} {} {}", guard->node.str(), guard->node.uid, guard->question);
  const auto& write = std::get<Write>(step);
  // The reply to a refused eviction answers the question of its dry run, too.
  if (write.verb == Verb::kEvict)
    return fmt::format("evict {} {}", write.object.str(), write.object.uid);
  // Each field manager has its own answer: a refusal for one says nothing about another's fields.
  return fmt::format("{} {} {} {}", to_string(write.verb), write.object.str(), write.object.uid,
                     write.field_manager);
}

namespace {

std::size_t hash_of(const ObjectRef& object) {
  // The hash omits kind and uid: there are few kinds, and nearly always one uid per name.
  return std::hash<std::string>()(object.name) * 31 + std::hash<std::string>()(object.namespace_);
}

}  // namespace

std::size_t StepsIndex::find(const std::vector<ObjectSteps>& objects, const ObjectRef& object) {
  if (!objects.empty() && objects.back().object == object) return objects.size() - 1;
  if (places_.bucket_count() < objects.size()) places_.reserve(2 * objects.size());
  for (std::size_t i = places_.size(); i < objects.size(); ++i)
    places_.emplace(hash_of(objects[i].object), static_cast<std::uint32_t>(i));
  const auto [from, to] = places_.equal_range(hash_of(object));
  const auto known = std::find_if(
      from, to, [&](const auto& entry) { return objects[entry.second].object == object; });
  return known == to ? objects.size() : known->second;
}

// An object has only a few steps.
void Plan::add(const ObjectRef& object, Step step) {
  const std::size_t at = index.find(objects, object);
  if (at == objects.size()) {
    objects.push_back({object, {}});
    objects.back().steps.reserve(2);  // a write and its guard: few objects have more
  }
  std::vector<Step>& steps = objects[at].steps;
  if (std::ranges::find(steps, step) != steps.end())
    bug("planned twice for " + object.str() + ": " + question(step));
  steps.push_back(std::move(step));
}

bool Plan::empty() const {
  return objects.empty() &&
         std::ranges::none_of(statuses, [](const StatusUpdate& s) { return s.differs; });
}

namespace {

std::string print_step(const Step& step) {
  if (const auto* ask = std::get_if<Ask>(&step))
    return fmt::format("ask: may {} be evicted", ask->pod.str());
  if (const auto* guard = std::get_if<Guard>(&step))
    return fmt::format("guard {}: {}", guard->node.str(), guard->question);
  const auto& write = std::get<Write>(step);
  return fmt::format("{} {}: {}{}{}", to_string(write.verb), write.object.str(), write.reason,
                     write.body.empty() ? "" : "\n    ", write.body);
}

std::string print_event(const EventNote& event) {
  return fmt::format("event {} {} {}: {}\n", event.warning ? "Warning" : "Normal",
                     event.regarding.str(), event.reason, event.note);
}

// Hashes field by field, so that it copies and prints nothing.
class Hasher {
 public:
  void take(std::string_view text) { take(std::hash<std::string_view>()(text)); }
  void take(std::size_t value) {
    hash_ ^= value + 0x9e3779b97f4a7c15 + (hash_ << 6) + (hash_ >> 2);
  }
  void take(const ObjectRef& object) {
    for (std::string_view text :
         {std::string_view(object.kind), std::string_view(object.namespace_),
          std::string_view(object.name)})
      take(text);
  }
  void take(const Ask& ask) { take(ask.pod); }
  void take(const Guard& guard) {
    take(guard.node);
    take(guard.question);
  }
  void take(const Write& write) {
    take(static_cast<std::size_t>(write.verb));
    take(write.object);
    take(write.reason);
    take(write.body);
  }
  std::size_t hash() const { return hash_; }

 private:
  std::size_t hash_ = 0;
};

}  // namespace

std::size_t hash_steps(const Plan& plan) {
  if (plan.objects.empty()) return 0;
  Hasher hasher;
  for (const ObjectSteps& object : plan.objects)
    for (const Step& step : object.steps) {
      hasher.take(step.index());
      std::visit([&](const auto& each) { hasher.take(each); }, step);
    }
  return hasher.hash();
}

std::string print(const Plan& plan) {
  std::string out;
  for (const ObjectSteps& object : plan.objects)
    for (const Step& step : object.steps) out += print_step(step) + "\n";
  for (const StatusUpdate& status : plan.statuses) {
    if (!status.differs) continue;
    out += fmt::format("status {}\n    {}\n", status.object.str(), status.body);
    for (const EventNote& event : status.events) out += print_event(event);
  }
  for (const EventNote& event : plan.events) out += print_event(event);
  if (plan.requeue_after) out += fmt::format("requeue in {}ms\n", plan.requeue_after->count());
  return out;
}

}  // namespace berth
