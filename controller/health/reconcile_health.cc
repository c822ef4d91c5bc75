// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "controller/fleet/pools.h"
#include "controller/health/node_health_steps.h"
#include "controller/health/reconcile.h"

namespace berth {
namespace {

// Of those that no pool, or no policy, looks after any more.
void retreat(const Snapshot& snapshot, const std::set<const Node*>& watched, Plan& plan) {
  const HealthSpec none;
  for (const auto& node : snapshot.cluster.nodes()) {
    if (watched.contains(node.get()) || !node->meta.annotations.contains(names::kHealthAnnotation))
      continue;
    const NodeHealth health{.node = node.get(), .record = health_of(*node)};
    NodeHealthSteps(snapshot, none, health, plan).retreat();
  }
}

}  // namespace

Plan reconcile_health(const Snapshot& snapshot) {
  Plan plan;
  std::set<const Node*> watched;
  if (const GPUClusterPolicy* policy = find_policy(snapshot.cluster)) {
    const HealthSurvey survey = survey_health(snapshot, *policy);
    DisruptionBudgets budgets(snapshot, read_ledger(snapshot));
    for (const NodeHealth& health : survey.nodes) {
      watched.insert(health.node);
      NodeHealthSteps(snapshot, policy->spec.health, health, plan)
          .step(survey.refuse(*health.pool), budgets);
    }
    if (survey.next_in) plan.requeue_in(*survey.next_in);
  }
  retreat(snapshot, watched, plan);
  return plan;
}

}  // namespace berth
