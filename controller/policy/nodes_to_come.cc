// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/nodes_to_come.h"

#include <algorithm>

#include "apis/kinds/gpu_queue.h"
#include "apis/kinds/mig_layout.h"
#include "controller/fleet/allocatable.h"
#include "controller/policy/plugin_config.h"
#include "controller/queue/facts/facts.h"
#include "controller/queue/index/pools_in_reach.h"

namespace berth {
namespace {

// Whether the selector may match a node that has the known labels, and any others.
bool may_select(const LabelSelector& selector, const StringMap& known) {
  return std::ranges::all_of(selector.match_labels,
                             [&](const auto& entry) {
                               const Text* value = known.find(entry.first);
                               return value == nullptr || *value == entry.second;
                             }) &&
         std::ranges::all_of(selector.match_expressions, [&](const SelectorRequirement& wanted) {
           return !known.contains(wanted.key) || matches(wanted, known);
         });
}

void add_instances(const ClusterState& cluster, const PoolSpec& pool,
                   std::set<std::string>& resources) {
  const StringMap known = queue::labels_of_nodes(pool);
  for (const auto& layout : cluster.mig_layouts()) {
    const MIGLayoutSpec& spec = layout->spec;
    if (spec.node_selector && !may_select(*spec.node_selector, known)) continue;
    for (const DeviceLayout& device : spec.devices)
      for (const auto& [profile, count] : device.profiles)
        if (count > 0) resources.insert(mig_resource_name(profile));
  }
}

}  // namespace

bool lists(const SharingSpec& sharing, std::string_view resource) {
  if (sharing.resources.empty()) return resource == kGpuResource;
  return std::ranges::find(sharing.resources, resource) != sharing.resources.end();
}

std::set<std::string> with_shared_names(const PoolSpec& pool, std::set<std::string> resources) {
  if (!pool.sharing.rename_by_default || pool.sharing.strategy == SharingStrategy::kNone)
    return resources;
  const std::set<std::string> unshared = resources;
  for (const std::string& name : unshared)
    if (lists(pool.sharing, name)) resources.insert(shared_name(name));
  return resources;
}

std::set<std::string> promised_resources(const ClusterState& cluster, const PoolSpec& pool,
                                         const std::set<std::string>& offered) {
  std::set<std::string> resources;
  for (const auto& each : cluster.gpu_queues())
    for (const QuotaSpec& quota : each->spec.quotas) {
      if (quota.pool != pool.name) continue;
      if (quota.resource == queue::kGpuClass)
        resources.insert(offered.begin(), offered.end());
      else if (is_gpu_resource(quota.resource))
        resources.insert(quota.resource);
    }
  return resources;
}

std::set<std::string> resources_to_come(const ClusterState& cluster, const PoolSpec& pool,
                                        const std::set<std::string>& offered) {
  std::set<std::string> resources = promised_resources(cluster, pool, offered);
  resources.insert(std::string(kGpuResource));
  add_instances(cluster, pool, resources);
  return with_shared_names(pool, std::move(resources));
}

}  // namespace berth
