// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/watch_keys.h"

#include <algorithm>
#include <set>

#include "apis/base/names.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/rollouts.h"
#include "controller/disruption/slots.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/agent_file.h"
#include "controller/mig/overlap.h"
#include "controller/mig/preflight.h"
#include "controller/mig/reconcile.h"
#include "controller/queue/record/admission_ledger.h"

namespace berth {
namespace {

class Keys {
 public:
  explicit Keys(const ClusterState& cluster) : cluster_(cluster) {}

  Keys& node(std::string_view name) {
    keys_.insert(node_key(name));
    return *this;
  }
  Keys& layout(const MIGLayout& layout) {
    keys_.insert(layout_key(layout.meta.name));
    return *this;
  }
  Keys& layouts() {
    for (const auto& layout : cluster_.mig_layouts()) this->layout(*layout);
    return *this;
  }
  // Adds every layout that selects the node, and the one that took it.
  Keys& layouts_of(const Node& node) {
    for (const auto& layout : cluster_.mig_layouts())
      if (selects(*layout, node)) this->layout(*layout);
    const RolloutRecord record = read_rollout(cluster_, node);
    if (record.rollout && !record.rollout->layout.empty())
      keys_.insert(layout_key(record.rollout->layout));
    return *this;
  }
  // Adds nodes in progress by their annotation, which may be ahead of or behind the ledger.
  Keys& nodes_under_way() {
    for (const Node* node : berth::nodes_under_way(cluster_)) this->node(node->meta.name);
    return *this;
  }
  Keys& slots() {
    keys_.emplace(kSlotsKey);
    return *this;
  }
  Keys& agent_config() {
    keys_.emplace(kAgentConfigKey);
    return *this;
  }
  std::vector<std::string> list() const { return {keys_.begin(), keys_.end()}; }

 private:
  const ClusterState& cluster_;
  std::set<std::string> keys_;
};

bool is_ledger(const Settings& settings, const ConfigMap& config_map) {
  return config_map.meta.name == names::kSlotsConfigMap &&
         config_map.meta.namespace_ == std::string_view(settings.berth_namespace);
}

bool is_admissions(const Settings& settings, const ConfigMap& config_map) {
  return config_map.meta.name == names::kAdmissionsConfigMap &&
         config_map.meta.namespace_ == std::string_view(settings.berth_namespace);
}

// Calls visit(node) for each node that an admission in flight named before and no longer names.
template <class Visit>
void each_node_reached(const ConfigMap& old, const ConfigMap* now, Visit&& visit) {
  for (const auto& [uid, text] : old.data) {
    const auto standing = now == nullptr ? old.data.end() : now->data.find(uid);
    if (now != nullptr && standing != now->data.end() && standing->second == text) continue;
    if (const auto entry = queue::decode_entry(text))
      for (const std::string& node : entry->admission.nodes) visit(node);
  }
}

// Whether fields are equal that decide whether the Job is suspended instead of its pods evicted,
// and whether it needs what nodes offer. A suspended Job has only pods that end.
bool same_for_queues(const Job& old, const Job& now) {
  const auto same = [&](const char* key) {
    const Text* before = old.meta.annotations.find(key);
    const Text* after = now.meta.annotations.find(key);
    return before == nullptr || after == nullptr ? before == after : *before == *after;
  };
  if (old.suspended) return true;
  return same(names::kAdmittedAnnotation) && same(names::kHoldAnnotation) &&
         old.meta.labels == now.meta.labels && old.suspended == now.suspended &&
         old.finished == now.finished;
}

// Whether the fields are equal that the mig-parted file depends on: the configs that the node
// names, the layouts that select it, and its GPUs. Otherwise berth has to read all nodes, and a
// node in progress changes other fields all the time. A newly named config is usually in the file
// already.
bool same_for_agent_config(const ClusterState& cluster, const Settings& settings, const Node* old,
                           const Node* now) {
  if (old == nullptr || now == nullptr) return false;
  if (old->meta.labels == now->meta.labels && old->meta.annotations == now->meta.annotations)
    return true;
  if (inventory_texts(*old) != inventory_texts(*now)) return false;
  const std::set<std::string> before = configs_named_by(cluster, *old),
                              after = configs_named_by(cluster, *now);
  if (!std::ranges::includes(after, before)) return false;  // an entry may be unused now
  for (const std::string& name : after)
    if (!before.contains(name) && !config_is_rendered(cluster, settings, name)) return false;
  return std::ranges::all_of(cluster.mig_layouts(), [&](const auto& layout) {
    return selects(*layout, *old) == selects(*layout, *now);
  });
}

}  // namespace

std::vector<std::string> mig_keys_for(const ClusterState& cluster, const Settings&,
                                      const MIGLayout* old, const MIGLayout* now) {
  Keys keys(cluster);
  if (old != nullptr) keys.layout(*old);
  if (now != nullptr) keys.layout(*now);
  // Nothing depends on berth's own status write.
  if (old != nullptr && now != nullptr && old->meta == now->meta && old->spec == now->spec)
    return keys.list();
  // An edit affects nodes in progress, and may change which layout owns a node.
  return keys.layouts().nodes_under_way().agent_config().list();
}

std::vector<std::string> mig_keys_for(const ClusterState& cluster, const Settings& settings,
                                      const Node* old, const Node* now) {
  Keys keys(cluster);
  const std::string& name = (now != nullptr ? now : old)->meta.name;
  const ConfigMap* ledger =
      cluster.config_maps().find(settings.berth_namespace, names::kSlotsConfigMap);
  if (ledger != nullptr && ledger->data.contains(name)) keys.slots();
  keys.node(name);
  for (const Node* node : {old, now}) {
    if (node == nullptr) continue;
    keys.layouts_of(*node);
    if (!read_rollout(cluster, *node).idle()) keys.slots();
  }
  if (!same_for_agent_config(cluster, settings, old, now)) keys.agent_config();
  // A change of capacity on any node may change the answer of a capacity guard.
  const bool serves_otherwise = old == nullptr || now == nullptr ||
                                in_service(*old) != in_service(*now) ||
                                old->allocatable != now->allocatable;
  if (serves_otherwise) keys.layouts();
  return keys.list();
}

std::vector<std::string> mig_keys_for(const ClusterState& cluster, const Settings&, const Pod* old,
                                      const Pod* now) {
  Keys keys(cluster);
  for (const Pod* pod : {old, now}) {
    const Node* node = pod == nullptr ? nullptr : cluster.nodes().find(pod->node_name.view());
    if (node == nullptr) continue;
    if (nodes_under_way(cluster).contains(node)) keys.node(node->meta.name);
    // Pods without GPUs change all the time, and most layouts ignore them.
    for (const auto& layout : cluster.mig_layouts())
      if ((uses_gpu(*pod) || layout->spec.drain.scope == DrainScope::kAllPods) &&
          selects(*layout, *node))
        keys.layout(*layout);
  }
  // A bound pod may be the reason why a last provider is kept.
  if (old != nullptr && uses_gpu(*old) && !old->node_name.empty() &&
      (now == nullptr || now->finished() || now->terminating()))
    keys.layouts();
  return keys.list();
}

std::vector<std::string> mig_keys_for(const ClusterState& cluster, const Settings&,
                                      const PodDisruptionBudget*, const PodDisruptionBudget*) {
  return Keys(cluster).layouts().nodes_under_way().list();
}

std::vector<std::string> mig_keys_for(const ClusterState& cluster, const Settings&, const Job* old,
                                      const Job* now) {
  // Only fields that decide whether its pods may be evicted matter.
  if (old != nullptr && now != nullptr && old->backoff_limit == now->backoff_limit &&
      old->failed == now->failed && old->ignores_disruptions == now->ignores_disruptions &&
      same_for_queues(*old, *now))
    return {};
  return Keys(cluster).layouts().nodes_under_way().list();
}

std::vector<std::string> mig_keys_for(const ClusterState& cluster, const Settings& settings,
                                      const ConfigMap* old, const ConfigMap* now) {
  Keys keys(cluster);
  const ConfigMap& either = now != nullptr ? *now : *old;
  if (is_ledger(settings, either)) {
    keys.slots().layouts();
    for (const ConfigMap* ledger : {old, now})
      for (const auto& [node, slot] : read_ledger(ledger).slots) keys.node(node);
    return keys.list();
  }
  if (is_admissions(settings, either)) {
    if (old == nullptr || cluster.mig_layouts().size() == 0) return {};
    each_node_reached(*old, now, [&](const std::string& name) {
      if (const Node* node = cluster.nodes().find(name)) keys.layouts_of(*node);
    });
    return keys.list();
  }
  if (either.meta.namespace_ != std::string_view(settings.agents_namespace)) return {};
  keys.agent_config();
  if (either.meta.name == settings.mig_config_map) keys.layouts().nodes_under_way();
  // Any mig-parted file may have the config that a node names.
  if (agent_file_of(old) != nullptr || agent_file_of(now) != nullptr) keys.layouts();
  return keys.list();
}

std::vector<std::string> mig_keys_for(const ClusterState& cluster, const Settings&,
                                      const DaemonSet*, const DaemonSet*) {
  return Keys(cluster).layouts().nodes_under_way().list();
}

std::vector<std::string> mig_keys_for(const ClusterState& cluster, const Settings&,
                                      const ClusterPolicy*, const ClusterPolicy*) {
  return Keys(cluster).layouts().nodes_under_way().agent_config().list();
}

std::vector<std::string> mig_keys_for(const ClusterState& cluster, const Settings&,
                                      const GPUClusterPolicy* old, const GPUClusterPolicy* now) {
  if (old != nullptr && now != nullptr && old->meta == now->meta && old->spec == now->spec)
    return {};
  return Keys(cluster).layouts().list();
}

// A layout keeps the resources that a queue's quotas count. Whether the queue takes Jobs back
// decides how their pods are drained.
std::vector<std::string> mig_keys_for(const ClusterState& cluster, const Settings&,
                                      const GPUQueue* old, const GPUQueue* now) {
  if (old != nullptr && now != nullptr && old->spec == now->spec) return {};
  return Keys(cluster).layouts().nodes_under_way().list();
}

std::vector<std::string> all_mig_keys(const ClusterState& cluster, const Settings&) {
  std::vector<std::string> keys{std::string(kAgentConfigKey), std::string(kSlotsKey)};
  for (const auto& node : cluster.nodes())
    if (node->meta.annotations.contains(names::kRolloutAnnotation) || has_gpus(*node))
      keys.push_back(node_key(node->meta.name));
  for (const auto& layout : cluster.mig_layouts()) keys.push_back(layout_key(layout->meta.name));
  return keys;
}

}  // namespace berth
