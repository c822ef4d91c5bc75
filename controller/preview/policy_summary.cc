// SPDX-License-Identifier: Apache-2.0
// Outline: the pools of both policies; for each node, which pool it enters or leaves and which
// labels and taints change; then the staying pods that the policy forbids.
#include "controller/preview/policy_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "apis/base/names.h"
#include "apis/codec/decode.h"
#include "controller/fleet/disruption_calendar.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"
#include "controller/policy/pool_keys.h"
#include "controller/policy/pool_survey.h"
#include "controller/policy/reconcile.h"
#include "controller/preview/eligible.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

const PoolSpec* find_pool(const GPUClusterPolicy* policy, std::string_view name) {
  if (policy == nullptr) return nullptr;
  const auto& pools = policy->spec.pools;
  const auto found = std::ranges::find(pools, name, &PoolSpec::name);
  return found == pools.end() ? nullptr : &*found;
}

std::string told(const SharingSpec& sharing) {
  if (sharing.strategy == SharingStrategy::kNone) return {};
  return fmt::format("{} × {}{}", to_string(sharing.strategy), sharing.replicas,
                     sharing.rename_by_default ? ", renamed" : "");
}

// The labels and taints of the node that berth manages.
std::set<PoolItem> items_of(const Node& node) {
  std::set<PoolItem> items = {{Text(names::kDevicePluginConfig), {}}};
  if (const Text* record = node.meta.annotations.find(names::kPoolKeysAnnotation))
    if (const auto keys = decode_pool_keys(record->view()))
      for (const auto& [item, value] : keys->items) items.insert(item);
  items.erase({Text(names::kPoolLabel), {}});
  return items;
}

std::optional<std::string> text_of(const std::optional<Text>& value) {
  return value ? std::optional(value->str()) : std::nullopt;
}

std::string left_by(const GPUClusterPolicy& policy) {
  return policy.spec.deletion_policy == PolicyDeletion::kRetain
             ? "deletionPolicy Retain: its nodes keep their labels, taints and sharing"
             : "deletionPolicy Remove: berth takes labels, taints and sharing from its nodes, "
               "within spec.disruption where pods hold GPUs";
}

class Summary {
 public:
  Summary(const ClusterState& before, const Snapshot& after, const GPUClusterPolicy& policy)
      : before_(before),
        after_(after),
        policy_(policy),
        old_(before.gpu_policies().find(policy.meta.name)) {}
  PolicySummary run(Time now, bool given);

 private:
  void name_pools();
  PoolSummary& pool(std::string_view name);
  void look_at(const Node& old, const Node& now);
  void edit(PoolSummary& pool, const Node& old, const Node& now, const PoolItem& item);
  void look_at_pods(const Node& old, const Node& now);
  void compare_holdings(const Node& old, const Node& now, const std::vector<const Pod*>& pods);
  void concern(PodConcern::Kind kind, const Node& node, std::string message,
               const std::vector<const Pod*>& pods);

  const ClusterState& before_;
  const Snapshot& after_;
  const GPUClusterPolicy& policy_;
  const GPUClusterPolicy* old_;
  PolicySummary out_;
};

PolicySummary Summary::run(Time now, bool given) {
  out_.name = policy_.meta.name;
  out_.given = given;
  const bool gone = find_policy(after_.cluster) == nullptr;
  if (gone) out_.left = left_by(policy_);
  out_.change = gone                         ? LayoutSummary::Change::kDeleted
                : old_ == nullptr            ? LayoutSummary::Change::kCreated
                : old_->spec == policy_.spec ? LayoutSummary::Change::kUnchanged
                                             : LayoutSummary::Change::kEdited;
  name_pools();
  for (const auto& node : after_.cluster.nodes())
    if (const Node* old = before_.nodes().find(node->meta.name)) look_at(*old, *node);
  out_.conflicts = survey_pools(after_, policy_).conflicts;
  const DisruptionSpec& disruption = policy_.spec.disruption;
  if (!disruption.windows.empty() || !disruption.blackouts.empty())
    out_.windows = DisruptionCalendar(disruption, after_.zones).at(now);
  for (StatusUpdate& status : reconcile_policy(after_).statuses)
    if (Result<GPUClusterPolicy> read = decode_object<GPUClusterPolicy>(status.body))
      out_.conditions = read->status.conditions;
  return std::move(out_);
}

void Summary::name_pools() {
  for (const PoolSpec& spec : policy_.spec.pools) {
    PoolSummary& entry = pool(spec.name);
    const PoolSpec* old = find_pool(old_, spec.name);
    entry.removed = out_.change == LayoutSummary::Change::kDeleted;
    entry.sharing = told(spec.sharing);
    entry.change = old == nullptr ? LayoutSummary::Change::kCreated
                   : *old == spec ? LayoutSummary::Change::kUnchanged
                                  : LayoutSummary::Change::kEdited;
  }
  if (old_ == nullptr) return;
  for (const PoolSpec& spec : old_->spec.pools) pool(spec.name);
}

// A pool that the policy does not contain was removed.
PoolSummary& Summary::pool(std::string_view name) {
  auto found = std::ranges::find(out_.pools, name, &PoolSummary::name);
  if (found == out_.pools.end())
    found = out_.pools.insert(
        out_.pools.end(),
        {.name = std::string(name), .change = LayoutSummary::Change::kEdited, .removed = true});
  return *found;
}

void Summary::look_at(const Node& old, const Node& now) {
  const std::string was(label_of(old, names::kPoolLabel)), is(label_of(now, names::kPoolLabel));
  if (was.empty() && is.empty()) return;
  if (was == is) {
    ++pool(is).stay;
  } else {
    if (!was.empty()) pool(was).leave.push_back(now.meta.name);
    if (!is.empty()) pool(is).enter.push_back(now.meta.name);
  }
  std::set<PoolItem> items = items_of(old);
  items.merge(items_of(now));
  for (const PoolItem& item : items) edit(pool(is.empty() ? was : is), old, now, item);
  look_at_pods(old, now);
}

void Summary::edit(PoolSummary& pool, const Node& old, const Node& now, const PoolItem& item) {
  const std::optional<std::string> from = text_of(shown(old, item)), to = text_of(shown(now, item));
  if (from == to) return;
  auto same = std::ranges::find_if(pool.edits, [&](const PoolSummary::Edit& e) {
    return e.key == item.key && e.effect == item.effect && e.from == from && e.to == to;
  });
  if (same == pool.edits.end())
    same = pool.edits.insert(
        same,
        {.key = item.key.str(), .effect = item.effect.str(), .from = from, .to = to, .nodes = {}});
  same->nodes.push_back(now.meta.name);
}

// Pods that were on the node and still are. DaemonSets' pods have their own rules.
void Summary::look_at_pods(const Node& old, const Node& now) {
  std::vector<const Pod*> staying;
  for (const Occupant& occupant : after_.cluster.occupants_of(now.meta.name)) {
    const Pod& pod = *occupant.pod;
    const Pod* then = before_.pods().find(pod.meta.namespace_.view(), pod.meta.name);
    if (occupant.uses_gpu && !occupant.stays && then != nullptr && then->meta.uid == pod.meta.uid &&
        then->node_name == pod.node_name)
      staying.push_back(&pod);
  }
  if (staying.empty()) return;
  std::ranges::sort(staying, {}, [](const Pod* pod) { return key_of(pod->meta); });
  compare_holdings(old, now, staying);
  for (const Taint& taint : now.taints) {
    if (taint.effect == "PreferNoSchedule" ||
        std::ranges::find(old.taints, taint) != old.taints.end())
      continue;
    std::vector<const Pod*> kept_off;
    for (const Pod* pod : staying)
      if (!tolerates(pod->shape->tolerations, taint)) kept_off.push_back(pod);
    concern(
        PodConcern::Kind::kNotTolerant, now,
        fmt::format("do not tolerate {}: they keep running, but would not be scheduled there again",
                    format(taint)),
        kept_off);
  }
  const PoolSpec* pool = find_pool(&policy_, label_of(now, names::kPoolLabel));
  const PoolSpec* was = find_pool(old_, label_of(old, names::kPoolLabel));
  if (pool == nullptr || !pool->eligible_namespaces) return;
  std::vector<const Pod*> strangers;
  for (const Pod* pod : staying) {
    const std::string_view namespace_ = pod->meta.namespace_.view();
    const bool news =
        was == nullptr || was->name != pool->name || eligible(before_, *was, namespace_);
    if (news && !eligible(after_.cluster, *pool, namespace_)) strangers.push_back(pod);
  }
  concern(PodConcern::Kind::kNotEligible, now,
          fmt::format("are in namespaces that may not use pool {}, which is for those with {}: "
                      "they keep running, and new ones are refused",
                      pool->name, format(*pool->eligible_namespaces)),
          strangers);
}

void Summary::compare_holdings(const Node& old, const Node& now,
                               const std::vector<const Pod*>& pods) {
  std::map<Text, Quantity> held;
  for (const Pod* pod : pods)
    for (const auto& [resource, count] : gpus_in(pod->shape->requests)) held[resource] += count;
  for (const auto& [resource, count] : held) {
    const Quantity exists = now.allocatable.get(resource);
    if (count <= exists || old.allocatable.get(resource) <= exists) continue;
    std::vector<const Pod*> holders;
    for (const Pod* pod : pods)
      if (!pod->shape->requests.get(resource).is_zero()) holders.push_back(pod);
    concern(PodConcern::Kind::kHoldsMoreThanExists, now,
            fmt::format("hold {} of {} where {} will exist: they keep running, but are not "
                        "scheduled there again before others end",
                        count.str(), resource.view(), exists.str()),
            holders);
  }
}

void Summary::concern(PodConcern::Kind kind, const Node& node, std::string message,
                      const std::vector<const Pod*>& pods) {
  if (pods.empty()) return;
  const std::string pool(label_of(node, names::kPoolLabel));
  auto same = std::ranges::find_if(out_.pods, [&](const PodConcern& c) {
    return c.kind == kind && c.pool == pool && c.message == message;
  });
  if (same == out_.pods.end())
    same = out_.pods.insert(same, {.kind = kind, .pool = pool, .message = std::move(message)});
  same->nodes.push_back(node.meta.name);
  for (const Pod* pod : pods) same->pods.push_back(key_of(pod->meta).str());
}

const ConfigMap* find_plugin_file(const ClusterState& cluster, const GPUClusterPolicy* policy,
                                  const Settings& settings) {
  if (policy == nullptr) return nullptr;
  return cluster.config_maps().find(settings.agents_namespace,
                                    policy->spec.agents.device_plugin_config_map);
}

// " (copied from ConfigMap x)" if the present file of the device plugin has the same text there.
std::string as_the_plugin_has_it(const ClusterState& cluster, const Settings& settings,
                                 const std::string& ours, const std::string& key,
                                 const std::string& text) {
  for (const auto& nvidia : cluster.cluster_policies()) {
    const std::string& name = nvidia->device_plugin_config_map;
    const ConfigMap* read = cluster.config_maps().find(settings.agents_namespace, name);
    if (read == nullptr || name == ours) continue;
    const auto found = read->data.find(key);
    if (found != read->data.end() && found->second == text)
      return fmt::format(" (copied from ConfigMap {})", name);
  }
  return {};
}

std::string told(const PriorityClass& made) {
  return fmt::format("value {}, preemptionPolicy {}", made.value, made.preemption_policy.view());
}

}  // namespace

std::optional<PolicySummary> summarize_policy(const ClusterState& before, const Snapshot& after,
                                              Time now, bool given,
                                              const GPUClusterPolicy* deleted) {
  const GPUClusterPolicy* policy = deleted != nullptr ? deleted : find_policy(after.cluster);
  if (policy == nullptr) return std::nullopt;
  return Summary(before, after, *policy).run(now, given);
}

std::vector<ObjectChange> changed_policy_objects(const ClusterState& before,
                                                 const ClusterState& after,
                                                 const Settings& settings) {
  static const std::map<std::string, std::string> kNothing;
  std::vector<ObjectChange> changes;
  const GPUClusterPolicy* policy = find_policy(after);
  if (policy == nullptr) policy = find_policy(before);  // its file may remain
  const ConfigMap* old = find_plugin_file(before, policy, settings);
  const ConfigMap* now = find_plugin_file(after, policy, settings);
  if (now != nullptr && (old == nullptr || old->data != now->data)) {
    ObjectChange change{.object = ref_of(*now).str(), .created = old == nullptr};
    const auto& had = old == nullptr ? kNothing : old->data;
    for (const auto& [key, text] : now->data) {
      const std::string copied = as_the_plugin_has_it(after, settings, now->meta.name, key, text);
      const auto stood = had.find(key);
      if (stood == had.end())
        change.lines.push_back("adds key " + key + copied);
      else if (stood->second != text)
        change.lines.push_back("changes key " + key + copied);
    }
    for (const auto& [key, text] : had)
      if (!now->data.contains(key)) change.lines.push_back("removes key " + key);
    changes.push_back(std::move(change));
  }
  for (const auto& made : after.priority_classes()) {
    const PriorityClass* was = before.priority_classes().find(made->meta.name);
    if (was == nullptr)
      changes.push_back({.object = ref_of(*made).str(), .created = true, .lines = {told(*made)}});
    else if (was->meta.uid != made->meta.uid)
      changes.push_back({.object = ref_of(*made).str(),
                         .lines = {fmt::format(
                             "{} → {}, deleted and created again: pods keep the priority they have",
                             told(*was), told(*made))}});
  }
  for (const auto& was : before.priority_classes())
    if (after.priority_classes().find(was->meta.name) == nullptr)
      changes.push_back({.object = ref_of(*was).str(), .deleted = true, .lines = {told(*was)}});
  return changes;
}

}  // namespace berth
