// SPDX-License-Identifier: Apache-2.0
#include "controller/core/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {

std::string ObjectRef::str() const {
  return namespace_.empty() ? fmt::format("{}/{}", kind, name)
                            : fmt::format("{}/{}/{}", kind, namespace_, name);
}

const char* to_string(Verb verb) {
  switch (verb) {
    case Verb::kCreate:
      return "create";
    case Verb::kApply:
      return "apply";
    case Verb::kJsonPatch:
      return "jsonpatch";
    case Verb::kMergePatch:
      return "mergepatch";
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
  // A refused eviction answers the same question as its dry run.
  if (write.verb == Verb::kEvict)
    return fmt::format("evict {} {}", write.object.str(), write.object.uid);
  // One object's fields have several managers: what one of them hears says nothing of another's.
  return fmt::format("{} {} {} {}", to_string(write.verb), write.object.str(), write.object.uid,
                     write.field_manager);
}

void Plan::add(const ObjectRef& object, Step step) {
  auto it = std::ranges::find(objects, object, &ObjectSteps::object);
  if (it == objects.end()) it = objects.insert(objects.end(), ObjectSteps{object, {}});
  it->steps.push_back(std::move(step));
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

}  // namespace

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
