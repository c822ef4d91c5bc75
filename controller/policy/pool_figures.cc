// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/pool_figures.h"

#include <map>
#include <string>
#include <utility>

#include "controller/cost/money.h"
#include "controller/disruption/health_record.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"

namespace berth {
namespace {

struct PoolCounts {
  std::int32_t in_service = 0, cordoned = 0, not_ready = 0;
  std::int64_t gpus = 0;
  std::int32_t reported = 0, out_of_service = 0, overruled = 0;  // health phases
};

void count_health(const Node& node, PoolCounts& counts) {
  const std::optional<HealthRecord> health = health_of(node);
  if (!health) return;
  counts.reported += health->phase == HealthPhase::kReported ? 1 : 0;
  counts.out_of_service += health->phase == HealthPhase::kCordoned ? 1 : 0;
  counts.overruled += health->phase == HealthPhase::kOverruled ? 1 : 0;
}

void count(const PoolSpec& pool, const Node& node, PoolCounts& counts) {
  ++(!node.ready ? counts.not_ready : node.cordoned() ? counts.cordoned : counts.in_service);
  counts.gpus += gpus_of(pool, node);
  count_health(node, counts);
}

void tell_pools(const ClusterState& cluster, const GPUClusterPolicy& policy, Figures& out) {
  std::map<std::string, PoolCounts> pools;
  for (const PoolSpec& pool : policy.spec.pools) pools[pool.name];
  for (const auto& node : cluster.nodes()) {
    const PoolSpec* pool = joined_pool(policy, *node);
    if (pool != nullptr) count(*pool, *node, pools[pool->name]);
  }
  Figure nodes{"berth_pool_nodes", "GPU nodes of a pool, by whether they take new pods."};
  Figure gpus{"berth_pool_gpus", "Physical GPUs of a pool's nodes."};
  Figure unhealthy{"berth_unhealthy_nodes",
                   "Nodes of a pool whose GPUs have shown a fault, by what has become of them."};
  for (const auto& [name, counts] : pools) {
    unhealthy.add({{"pool", name}, {"state", "reported"}}, counts.reported);
    unhealthy.add({{"pool", name}, {"state", "out_of_service"}}, counts.out_of_service);
    unhealthy.add({{"pool", name}, {"state", "overruled"}}, counts.overruled);
    nodes.add({{"pool", name}, {"state", "in_service"}}, counts.in_service);
    nodes.add({{"pool", name}, {"state", "cordoned"}}, counts.cordoned);
    nodes.add({{"pool", name}, {"state", "not_ready"}}, counts.not_ready);
    gpus.add({{"pool", name}}, static_cast<double>(counts.gpus));
  }
  for (Figure* figure : {&nodes, &gpus, &unhealthy}) out.push_back(std::move(*figure));
}

// From the policy's status, as of the last samples.
void tell_use(const GPUClusterPolicy& policy, Figures& out) {
  Figure allocated{"berth_pool_allocated_gpus",
                   "NVIDIA's resources that bound pods hold of a pool's nodes."};
  Figure utilization{"berth_pool_utilization_ratio",
                     "How much of a pool's GPUs is at work, where they are measured."};
  Figure idle{"berth_pool_idle_gpus", "GPUs of a pool that pods hold and don't use."};
  Figure waste{"berth_pool_monthly_waste",
               "What GPUs of a pool that do nothing cost in a month, in the pool's currency."};
  std::map<std::string, std::string> currencies;
  for (const PoolSpec& pool : policy.spec.pools)
    if (pool.price) currencies[pool.name] = pool.price->currency;
  for (const PoolStatus& pool : policy.status.pools) {
    allocated.add({{"pool", pool.name}}, static_cast<double>(pool.allocated));
    if (pool.utilization) utilization.add({{"pool", pool.name}}, *pool.utilization / 100.0);
    if (pool.idle_gpus) idle.add({{"pool", pool.name}}, static_cast<double>(*pool.idle_gpus));
    const auto currency = currencies.find(pool.name);
    const auto money = cost::parse_price(pool.monthly_waste);
    if (currency != currencies.end() && money)
      waste.add({{"pool", pool.name}, {"currency", currency->second}},
                static_cast<double>(*money) / 1e6);
  }
  for (Figure* figure : {&allocated, &utilization, &idle, &waste})
    if (!figure->samples.empty()) out.push_back(std::move(*figure));
}

}  // namespace

Figures pool_figures(const ClusterState& cluster) {
  Figures out;
  Figure conditions{"berth_gpuclusterpolicy_condition",
                    "1 for the status that a condition of the GPUClusterPolicy has, else 0."};
  Figure reasons{"berth_gpuclusterpolicy_condition_reason",
                 "1; why a condition of the GPUClusterPolicy is as it is."};
  for (const auto& policy : cluster.gpu_policies()) {
    const Figure::Labels label{{"policy", policy->meta.name}};
    add_conditions(label, policy->status.conditions,
                   policy->status.observed_generation >= policy->meta.generation, conditions);
    add_reasons(label, policy->status.conditions, reasons);
  }
  for (Figure* figure : {&conditions, &reasons}) out.push_back(std::move(*figure));
  if (const GPUClusterPolicy* policy = find_policy(cluster)) {
    tell_pools(cluster, *policy, out);
    tell_use(*policy, out);
  }
  return out;
}

}  // namespace berth
