// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/stop.h"
#include "controller/fleet/pools.h"
#include "controller/policy/pool_change.h"
#include "controller/policy/pool_patch.h"
#include "controller/policy/reconcile.h"

namespace berth {
namespace {

std::string names_of(const std::vector<PoolItem>& items) {
  std::vector<std::string> names;
  for (const PoolItem& item : items) names.push_back(item.str());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string reason_for(const PoolChange& change, const PoolIntent& intent) {
  if (!change.corrected.empty())
    return fmt::format("restore what pool {} sets and somebody changed: {}", intent.pool,
                       names_of(change.corrected));
  return fmt::format("the node belongs to pool {}", intent.pool);
}

}  // namespace

Plan reconcile_pool_node(const Snapshot& snapshot, std::string_view name) {
  Plan plan;
  const Node* node = snapshot.cluster.nodes().find(name);
  if (node == nullptr || is_stopped(snapshot)) return plan;
  // Without a policy, everything stays: a policy that is applied again finds its nodes as they
  // were.
  const GPUClusterPolicy* policy = find_policy(snapshot.cluster);
  // A policy that breaks its rules was created without the CRD's validation. Everything stays until
  // a user fixes it.
  if (policy == nullptr || !check_rules(*policy).empty()) return plan;
  const PoolSpec* pool = joined_pool(*policy, *node);
  if (pool == nullptr) return plan;

  const PoolIntent intent = intent_of(*pool, agent_tolerations(snapshot));
  const PoolChange change =
      compute_pool_change(*node, &intent, snapshot.settings.node_keys, Retreat::kLater);
  if (change.empty()) return plan;
  plan_pool_patch(*node, change, reason_for(change, intent), plan);
  if (!change.corrected.empty())
    plan.events.push_back(
        {ref_of(*node), true, reasons::kPoolKeysCorrected, "Label",
         fmt::format("restored, as pool {} sets it: {}", intent.pool, names_of(change.corrected))});
  return plan;
}

}  // namespace berth
