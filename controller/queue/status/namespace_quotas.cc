// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/status/namespace_quotas.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/json_patch.h"
#include "controller/core/merge_patch.h"
#include "controller/core/refused_write.h"
#include "controller/core/seeded_bugs.h"

namespace berth::queue {
namespace {

using QuotaBounds = std::map<std::string, std::int64_t>;

std::string quota_name(const GPUQueue& queue) { return "berth-" + queue.meta.name; }
std::string owner_of(const GPUQueue& queue) { return "GPUQueue/" + queue.meta.name; }

// Whether berth created it for a queue of this name. If that queue is gone, the garbage collector
// deletes it.
bool is_berths(const ResourceQuota& made, const GPUQueue& queue) {
  return made.meta.annotations.get(names::kOwnerAnnotation) == std::string_view(owner_of(queue));
}

bool is_of(const ResourceQuota& made, const GPUQueue& queue) {
  return is_berths(made, queue) &&
         std::ranges::any_of(made.meta.owner_references, [&](const OwnerReference& owner) {
           return owner.uid == std::string_view(queue.meta.uid);
         });
}

bool wants_quota(const GPUQueue& queue) {
  return queue.spec.namespace_quota.enabled && !queue.spec.namespace_quota.hard.empty() &&
         !queue.meta.deletion_timestamp;
}

// A ResourceQuota can block pods. So berth creates it only in namespaces that have opted in, as
// users choose a queue's selector freely. System namespaces never get one, whatever their labels.
bool may_bound(const Namespace& home, const Settings& settings) {
  const std::string& name = home.meta.name;
  const bool systems =
      std::ranges::find(names::kSystemNamespaces, name) != std::end(names::kSystemNamespaces) ||
      name == settings.berth_namespace || name == settings.agents_namespace;
  return !systems && home.meta.labels.get(names::kManagedLabel) == "true";
}

// Calls visit(namespace, queue) for each pair that needs a ResourceQuota.
template <class Visit>
void each_wanted(const Snapshot& snapshot, const ClusterIndex& index, Visit&& visit) {
  for (const auto& home : snapshot.cluster.namespaces()) {
    if (home->meta.deletion_timestamp || !may_bound(*home, snapshot.settings)) continue;
    const auto* queues = index.choice().selecting(home->meta.name);
    if (queues == nullptr) continue;
    for (const std::string& name : *queues) {
      const GPUQueue* queue = snapshot.cluster.gpu_queues().find(name);
      if (queue != nullptr && wants_quota(*queue) && index.trouble(name) == nullptr)
        visit(home->meta.name, *queue);
    }
  }
}

bool is_wanted(const Snapshot& snapshot, const ClusterIndex& index, std::string_view namespace_,
               const GPUQueue& queue) {
  const Namespace* home = snapshot.cluster.namespaces().find(namespace_);
  return wants_quota(queue) && home != nullptr && may_bound(*home, snapshot.settings) &&
         index.choice().selects(queue.meta.name, namespace_);
}

bool is_as_wanted(const ResourceQuota& made, const QuotaBounds& bounds) {
  return made.hard.size() == bounds.size() && std::ranges::all_of(bounds, [&](const auto& bound) {
           const Quantity* stands = made.hard.find(bound.first);
           return stands != nullptr && *stands == Quantity::whole(bound.second);
         });
}

// Sets an unwanted bound to null, as a merge patch would keep it otherwise.
std::string hard_json(const QuotaBounds& bounds, const ResourceQuota* standing) {
  std::string fields;
  const auto add = [&](std::string_view key, const std::string& value) {
    fields += fmt::format("{}{}:{}", fields.empty() ? "" : ",", quote_json(key), value);
  };
  for (const auto& [key, most] : bounds) add(key, fmt::format("\"{}\"", most));
  if (standing != nullptr)
    for (const auto& [key, most] : standing->hard)
      if (!bounds.contains(std::string(key))) add(key, "null");
  return "{\"hard\":{" + fields + "}}";
}

std::string generation_of(const GPUQueue& queue) { return std::to_string(queue.meta.generation); }

Write write_of(Verb verb, std::string_view namespace_, const GPUQueue& queue,
               const std::string& uid) {
  Write write;
  write.verb = verb;
  write.object = {std::string(kKind<ResourceQuota>.kind), std::string(namespace_),
                  quota_name(queue), uid};
  write.field_manager = names::kManagerQueue;
  return write;
}

// A create fails if another user's object has the name. An apply would take it over.
Write create(const std::string& namespace_, const GPUQueue& queue) {
  Write write = write_of(Verb::kCreate, namespace_, queue, {});
  write.body = fmt::format(
      R"({{"apiVersion":"v1","kind":"ResourceQuota","metadata":{{"name":{},"namespace":{},)"
      R"("labels":{{"{}":"berth"}},"annotations":{{"{}":{},"{}":"{}"}},"ownerReferences":[{{)"
      R"("apiVersion":"{}/v1alpha1","kind":"GPUQueue","name":{},"uid":{}}}]}},"spec":{}}})",
      quote_json(quota_name(queue)), quote_json(namespace_), names::kManagedByLabel,
      names::kOwnerAnnotation, quote_json(owner_of(queue)), names::kGenerationAnnotation,
      generation_of(queue), names::kGroup, quote_json(queue.meta.name), quote_json(queue.meta.uid),
      hard_json(queue.spec.namespace_quota.hard, nullptr));
  write.reason = fmt::format("queue {} bounds its namespaces", queue.meta.name);
  return write;
}

bool is_edited(const ResourceQuota& made, const GPUQueue& queue) {
  return made.meta.annotations.get(names::kGenerationAnnotation) ==
         std::string_view(generation_of(queue));
}

Write correct(const ResourceQuota& made, const GPUQueue& queue) {
  Write write = write_of(Verb::kMergePatch, made.meta.namespace_.view(), queue, made.meta.uid);
  write.body = MergePatch::same_version(made.meta)
                   .annotation(names::kGenerationAnnotation, generation_of(queue))
                   .field("spec", hard_json(queue.spec.namespace_quota.hard, &made))
                   .str();
  write.reason = is_edited(made, queue)
                     ? "somebody has changed it"
                     : fmt::format("queue {} states other bounds", queue.meta.name);
  return write;
}

void add(Plan& plan, Write write) {
  const ObjectRef object = write.object;
  plan.add(object, std::move(write));
}

void keep(const ResourceQuota& made, const GPUQueue& queue, Plan& plan) {
  if (made.meta.deletion_timestamp || is_as_wanted(made, queue.spec.namespace_quota.hard)) return;
  add(plan, correct(made, queue));
  if (is_edited(made, queue))
    plan.events.push_back({ref_of(made), true, reasons::kNamespaceQuotaCorrected, "Update",
                           fmt::format("somebody had changed its bounds; they are those of "
                                       "GPUQueue {} again: change its namespaceQuota.hard instead",
                                       queue.meta.name)});
}

// Returns the first bound of the queue that another ResourceQuota of the namespace makes tighter.
std::optional<Cause> undercut(const ResourceQuota& other, const GPUQueue& queue) {
  for (const auto& [key, most] : queue.spec.namespace_quota.hard) {
    const Quantity* theirs = other.hard.find(key);
    if (theirs == nullptr || *theirs >= Quantity::whole(most)) continue;
    return Cause{
        reasons::kTighterQuota,
        fmt::format("ResourceQuota {}/{} bounds {} to {}, and the queue to {}: the lower "
                    "one counts; raise it, or lower namespaceQuota.hard",
                    other.meta.namespace_.view(), other.meta.name, key, theirs->str(), most)};
  }
  return std::nullopt;
}

std::optional<Cause> find_obstacle(const Snapshot& snapshot, const std::string& namespace_,
                                   const GPUQueue& queue) {
  const ResourceQuota* made =
      snapshot.cluster.store<ResourceQuota>().find(namespace_, quota_name(queue));
  if (made != nullptr && !is_berths(*made, queue))
    return Cause{reasons::kQuotaNameTaken,
                 fmt::format("somebody else's ResourceQuota is called {} in namespace {}; rename "
                             "or delete it",
                             made->meta.name, namespace_)};
  const ObjectRef object =
      made != nullptr ? ref_of(*made) : write_of(Verb::kCreate, namespace_, queue, {}).object;
  if (const auto refused = refused_write(snapshot, object, names::kManagerQueue))
    return Cause{reasons::kWriteRefused, fmt::format("{}: {}", refused->object, refused->message)};
  return std::nullopt;
}

}  // namespace

Plan plan_namespace_quotas(const Snapshot& snapshot, const ClusterIndex& index) {
  Plan plan;
  const auto& quotas = snapshot.cluster.store<ResourceQuota>();
  each_wanted(snapshot, index, [&](const std::string& namespace_, const GPUQueue& queue) {
    const ResourceQuota* made = quotas.find(namespace_, quota_name(queue));
    if (made == nullptr)
      add(plan, create(namespace_, queue));
    else if (is_of(*made, queue) || seeded(SeededBug::kTakeOverQuotas))
      keep(*made, queue, plan);
  });
  if (seeded(SeededBug::kForgetQuotas)) return plan;
  for (const auto& made : quotas) {
    const std::string owner = made->meta.annotations.get(names::kOwnerAnnotation).str();
    if (!owner.starts_with("GPUQueue/") || made->meta.deletion_timestamp) continue;
    const GPUQueue* queue =
        snapshot.cluster.gpu_queues().find(std::string_view(owner).substr(sizeof "GPUQueue/" - 1));
    if (queue == nullptr || !is_of(*made, *queue) || index.trouble(queue->meta.name) != nullptr)
      continue;
    if (made->meta.name == quota_name(*queue) &&
        is_wanted(snapshot, index, made->meta.namespace_.view(), *queue))
      continue;
    Write write = write_of(Verb::kDelete, made->meta.namespace_.view(), *queue, made->meta.uid);
    write.object.name = made->meta.name;
    write.reason = fmt::format("queue {} does not bound this namespace", queue->meta.name);
    add(plan, std::move(write));
  }
  return plan;
}

std::map<std::string, Cause, std::less<>> find_unmet_quotas(const Snapshot& snapshot,
                                                            const ClusterIndex& index) {
  std::map<std::string, Cause, std::less<>> unmet;
  std::map<std::string, std::vector<const GPUQueue*>, std::less<>> bounded;  // by namespace
  each_wanted(snapshot, index, [&](const std::string& namespace_, const GPUQueue& queue) {
    bounded[namespace_].push_back(&queue);
    if (auto obstacle = find_obstacle(snapshot, namespace_, queue))
      unmet.try_emplace(queue.meta.name, std::move(*obstacle));
  });
  if (bounded.empty()) return unmet;
  std::map<std::pair<std::string_view, std::string_view>, const ResourceQuota*> others;
  for (const auto& other : snapshot.cluster.store<ResourceQuota>())
    others.emplace(std::pair(other->meta.namespace_.view(), std::string_view(other->meta.name)),
                   other.get());
  for (const auto& [key, other] : others) {
    const auto here = bounded.find(key.first);
    if (here == bounded.end()) continue;
    for (const GPUQueue* queue : here->second)
      if (auto tighter = undercut(*other, *queue); tighter && !is_berths(*other, *queue))
        unmet.try_emplace(queue->meta.name, std::move(*tighter));
  }
  return unmet;
}

bool concerns_quotas(const ResourceQuota* old, const ResourceQuota* now) {
  return old == nullptr || now == nullptr || old->hard != now->hard ||
         old->meta.annotations != now->meta.annotations ||
         old->meta.owner_references != now->meta.owner_references;
}

}  // namespace berth::queue
