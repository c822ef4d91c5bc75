// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/policy_keys.h"

#include <algorithm>

#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"
#include "controller/policy/reconcile.h"

namespace berth {
namespace {

std::string pool_key(const Node& node) { return std::string(kPoolKeys).append(node.meta.name); }

bool same_for_pools(const Node& a, const Node& b) {
  return a.meta.uid == b.meta.uid && a.meta.labels == b.meta.labels && a.taints == b.taints &&
         a.meta.annotations == b.meta.annotations &&
         (has_gpus(a) || offers_gpus(a) == offers_gpus(b));
}

}  // namespace

std::vector<std::string> policy_keys_for(const ClusterState& cluster, const Settings&,
                                         const GPUClusterPolicy* old, const GPUClusterPolicy* now) {
  // Only berth's status changed, and no node depends on it.
  if (!is_edit(old, now)) return {std::string(kPolicyKey)};
  return all_policy_keys(cluster);
}

std::vector<std::string> policy_keys_for(const ClusterState& cluster, const Settings&,
                                         const Node* old, const Node* now) {
  if (cluster.gpu_policies().size() == 0 && (now == nullptr || !may_join_pools(*now))) return {};
  const Node& either = now != nullptr ? *now : *old;
  if (!may_join_pools(either) && (old == nullptr || !may_join_pools(*old))) return {};
  std::vector<std::string> keys{std::string(kPolicyKey)};
  if (now != nullptr && (old == nullptr || !same_for_pools(*old, *now)))
    keys.push_back(pool_key(*now));
  return keys;
}

// Pods decide what is allocated in a pool, and which of them a change of its sharing would disturb.
std::vector<std::string> policy_keys_for(const ClusterState& cluster, const Settings&,
                                         const Pod* old, const Pod* now) {
  if (cluster.gpu_policies().size() == 0) return {};
  const auto counts = [](const Pod* pod) {
    return pod != nullptr && uses_gpu(*pod) && !pod->node_name.empty();
  };
  if (!counts(old) && !counts(now)) return {};
  if (counts(old) && counts(now) && old->finished() == now->finished() &&
      old->meta.uid == now->meta.uid)
    return {};
  return {std::string(kPolicyKey)};
}

std::vector<std::string> policy_keys_for(const ClusterState& cluster, const Settings& settings,
                                         const ConfigMap* old, const ConfigMap* now) {
  const ConfigMap& either = now != nullptr ? *now : *old;
  if (either.meta.namespace_ != std::string_view(settings.agents_namespace)) return {};
  for (const auto& policy : cluster.gpu_policies())
    if (policy->spec.agents.device_plugin_config_map == either.meta.name)
      return {std::string(kPolicyKey)};
  // berth copies keys of the file that the device plugin reads now.
  const bool is_read = std::ranges::any_of(cluster.cluster_policies(), [&](const auto& nvidia) {
    return nvidia->device_plugin_config_map == either.meta.name;
  });
  if (is_read && cluster.gpu_policies().size() > 0) return {std::string(kPolicyKey)};
  return {};
}

// Only the mounted files matter. DaemonSets change their pod counts all the time.
std::vector<std::string> policy_keys_for(const ClusterState& cluster, const Settings&,
                                         const DaemonSet* old, const DaemonSet* now) {
  const bool same =
      old != nullptr && now != nullptr && old->config_map_volumes == now->config_map_volumes;
  if (same || cluster.gpu_policies().size() == 0) return {};
  return {std::string(kPolicyKey)};
}

// ClusterPolicy decides which taints NVIDIA's operands tolerate, and which file the device plugin
// reads.
std::vector<std::string> policy_keys_for(const ClusterState& cluster, const Settings&,
                                         const ClusterPolicy*, const ClusterPolicy*) {
  return cluster.gpu_policies().size() == 0 ? std::vector<std::string>() : all_policy_keys(cluster);
}

std::vector<std::string> policy_keys_for(const ClusterState& cluster, const Settings&,
                                         const PriorityClass*, const PriorityClass*) {
  return cluster.gpu_policies().size() == 0 ? std::vector<std::string>()
                                            : std::vector<std::string>{std::string(kPolicyKey)};
}

std::vector<std::string> all_policy_keys(const ClusterState& cluster) {
  std::vector<std::string> keys{std::string(kPolicyKey)};
  for (const auto& node : cluster.nodes())
    if (may_join_pools(*node)) keys.push_back(pool_key(*node));
  return keys;
}

}  // namespace berth
