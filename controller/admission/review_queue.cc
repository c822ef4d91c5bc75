// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/review_queue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "apis/base/names.h"
#include "controller/admission/gpu_offers.h"
#include "controller/core/plural.h"
#include "controller/fleet/pools.h"
#include "controller/queue/facts/facts.h"
#include "controller/queue/index/queue_trouble.h"

namespace berth {
namespace {

constexpr std::size_t kTold = 4;  // items of a list in a message

std::string quota_field(std::size_t i, const char* member) {
  return fmt::format("spec.quotas[{}].{}", i, member);
}

void check_pools_named(const GPUQueue& queue, const ClusterState& cluster,
                       ReviewFindings& findings) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  std::vector<std::string> pools;
  if (policy != nullptr)
    for (const PoolSpec& pool : policy->spec.pools) pools.push_back(pool.name);
  std::set<std::string> told;
  for (std::size_t i = 0; i < queue.spec.quotas.size(); ++i) {
    const std::string& pool = queue.spec.quotas[i].pool;
    if (pool == queue::kAnyPool || std::ranges::find(pools, pool) != pools.end() ||
        !told.insert(pool).second)
      continue;
    findings.warn(quota_field(i, "pool"),
                  pools.empty()
                      ? std::string("no GPUClusterPolicy has pools: nothing is in this one")
                      : fmt::format("the GPUClusterPolicy has no pool {}; it has {}", pool,
                                    list_first(pools, kTold)));
  }
}

void check_resources(const GPUQueue& queue, const ClusterState& cluster, ReviewFindings& findings) {
  const GpuOffers& offers = offers_of(cluster);
  std::set<std::string> told;
  for (std::size_t i = 0; i < queue.spec.quotas.size(); ++i) {
    const std::string& resource = queue.spec.quotas[i].resource;
    const GpuOffer* offer = offers.find(resource);
    if (!is_gpu_resource(resource) || (offer != nullptr && offer->is_known()) ||
        !told.insert(resource).second)
      continue;
    findings.warn(quota_field(i, "resource"),
                  fmt::format("no node or MIGLayout offers {} yet", resource));
  }
}

// Classes that the policy lists count as existing: berth creates them.
void check_classes(const GPUQueue& queue, const ClusterState& cluster, ReviewFindings& findings) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  const auto& names = queue.spec.priority_classes;
  for (std::size_t i = 0; names && i < names->size(); ++i) {
    const std::string& name = (*names)[i];
    const bool made = policy != nullptr && std::ranges::find(policy->spec.priority_classes, name,
                                                             &PriorityClassSpec::name) !=
                                               policy->spec.priority_classes.end();
    if (!made && cluster.priority_classes().find(name) == nullptr)
      findings.warn(fmt::format("spec.priorityClasses[{}]", i),
                    fmt::format("there is no PriorityClass {} yet", name));
  }
}

bool is_systems(const std::string& name) {
  return std::ranges::find(names::kSystemNamespaces, name) != std::end(names::kSystemNamespaces);
}

// An empty selector selects all namespaces, and then means those that opted in.
void check_selection(const GPUQueue& queue, const std::vector<const Namespace*>& selected,
                     ReviewFindings& findings) {
  constexpr char kField[] = "spec.namespaceSelector";
  if (selected.empty()) return findings.warn(kField, "it selects no namespace now");
  if (queue.spec.namespace_selector->empty()) return;
  std::vector<std::string> left_alone;
  for (const Namespace* each : selected)
    if (each->meta.labels.get(names::kManagedLabel) != "true" && !is_systems(each->meta.name))
      left_alone.push_back(each->meta.name);
  if (left_alone.empty()) return;
  findings.warn(kField,
                fmt::format("it selects {} that berth leaves alone ({}); label {} {}=true",
                            plural(static_cast<std::int64_t>(left_alone.size()), "namespace"),
                            list_first(left_alone, kTold), left_alone.size() == 1 ? "it" : "them",
                            names::kManagedLabel));
}

// A queue that is being created has no creation timestamp yet; it is the youngest.
bool is_older(const GPUQueue& other, const GPUQueue& queue) {
  if (queue.meta.creation_timestamp == Time{}) return true;
  if (other.meta.creation_timestamp != queue.meta.creation_timestamp)
    return other.meta.creation_timestamp < queue.meta.creation_timestamp;
  return other.meta.name < queue.meta.name;
}

void check_default(const GPUQueue& queue, const std::vector<const Namespace*>& selected,
                   const ClusterState& cluster, ReviewFindings& findings) {
  if (!queue.spec.default_queue) return;
  for (const auto& other : cluster.gpu_queues()) {
    if (other->meta.name == queue.meta.name || !other->spec.default_queue ||
        !other->spec.namespace_selector || !is_older(*other, queue))
      continue;
    std::vector<std::string> both;
    for (const Namespace* each : selected)
      if (other->spec.namespace_selector->matches(each->meta.labels))
        both.push_back(each->meta.name);
    if (both.empty()) continue;
    return findings.warn("spec.default",
                         fmt::format("GPUQueue {} is the default of {} and older: it stays so",
                                     other->meta.name, list_first(both, kTold)));
  }
}

// If queues of a cohort count in different units, the younger one is Stalled.
void check_units(const GPUQueue& queue, const ClusterState& cluster, ReviewFindings& findings) {
  GPUQueue reviewed = queue;
  if (reviewed.meta.creation_timestamp == Time{}) reviewed.meta.creation_timestamp = Time::max();
  queue::QueuesByName queues;
  for (const auto& other : cluster.gpu_queues())
    if (other->spec.cohort_name == queue.spec.cohort_name)
      queues.emplace(other->meta.name, other.get());
  queues[queue.meta.name] = &reviewed;
  const auto troubles = queue::find_troubles(queues);
  if (const auto trouble = troubles.find(queue.meta.name); trouble != troubles.end())
    findings.warn("spec.quotas", trouble->second.message);
}

}  // namespace

void check_queue(const GPUQueue& queue, const ClusterState& cluster, ReviewFindings& findings) {
  for (const Error& error : check_rules(queue)) findings.refuse(error.where, error.message);
  if (findings.refused()) return;
  check_pools_named(queue, cluster, findings);
  check_resources(queue, cluster, findings);
  check_classes(queue, cluster, findings);
  if (queue.spec.namespace_selector) {
    std::vector<const Namespace*> selected;
    for (const auto& each : cluster.namespaces())
      if (queue.spec.namespace_selector->matches(each->meta.labels)) selected.push_back(each.get());
    check_selection(queue, selected, findings);
    check_default(queue, selected, cluster, findings);
  }
  if (!queue.spec.cohort_name.empty()) check_units(queue, cluster, findings);
}

}  // namespace berth
