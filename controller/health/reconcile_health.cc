// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "controller/core/seeded_bugs.h"
#include "controller/disruption/health_claims.h"
#include "controller/fleet/pools.h"
#include "controller/health/node_health_steps.h"
#include "controller/health/reconcile.h"

namespace berth {
namespace {

// Undoes what berth did to nodes that no pool selects any more.
void retreat(const Snapshot& snapshot, const std::set<const Node*>& watched, Plan& plan) {
  const HealthSpec none;
  std::vector<Cordoning> no_cordons;
  for (const auto& node : snapshot.cluster.nodes()) {
    if (watched.contains(node.get())) continue;
    const NodeHealth health{.node = node.get(), .record = health_of(*node)};
    NodeHealthSteps(snapshot, none, health, plan, no_cordons).retreat();
  }
}

// Writes the claim and the cordons as steps of one object, so no cordon happens if another claim
// was written first. Without a ledger there are no claims.
void cordon(const Snapshot& snapshot, std::vector<Cordoning> cordons, Plan& plan) {
  const SlotLedger& ledger = read_ledger(snapshot);
  if (ledger.config_map == nullptr) {
    for (Cordoning& out : cordons)
      for (Step& step : out.steps) plan.add(ref_of(*out.node), std::move(step));
    return;
  }
  HealthClaims claims(ledger, snapshot.now);
  std::vector<Step> steps;
  for (Cordoning& out : cordons) {
    claims.add(out.node->meta.name, snapshot.now);
    std::ranges::move(out.steps, std::back_inserter(steps));
  }
  if (steps.empty()) return;
  const ObjectRef object = ledger_ref(snapshot.settings, ledger.config_map);
  plan.add(object, claims.write(snapshot, ledger));
  for (Step& step : steps) plan.add(object, std::move(step));
}

}  // namespace

Plan reconcile_health(const Snapshot& snapshot) {
  Plan plan;
  // A deleted policy that leaves nodes as they are may be applied again. Until then broken nodes
  // stay cordoned.
  const GPUClusterPolicy* standing = standing_policy(snapshot.cluster);
  if (standing == nullptr || leaves_nodes_as_they_are(*standing)) return plan;
  std::set<const Node*> watched;
  if (const GPUClusterPolicy* policy = find_policy(snapshot.cluster)) {
    const HealthSurvey survey = survey_health(snapshot, *policy);
    DisruptionBudgets budgets(snapshot, read_ledger(snapshot));
    std::vector<Cordoning> cordons;
    for (const NodeHealth& health : survey.nodes) {
      watched.insert(health.node);
      NodeHealthSteps(snapshot, policy->spec.health, health, plan, cordons)
          .step(seeded(SeededBug::kIgnoreFraction) ? std::nullopt : survey.refuse(*health.pool),
                budgets);
    }
    cordon(snapshot, std::move(cordons), plan);
    if (survey.next_in) plan.requeue_in(*survey.next_in);
  }
  retreat(snapshot, watched, plan);
  return plan;
}

}  // namespace berth
