// SPDX-License-Identifier: Apache-2.0
// The policy as a whole. reconcile_pool_node sets the labels and taints of one node.
#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/cause.h"
#include "controller/core/finalizer.h"
#include "controller/core/refused_write.h"
#include "controller/core/stop.h"
#include "controller/fleet/disruption_calendar.h"
#include "controller/fleet/pools.h"
#include "controller/policy/plugin_file.h"
#include "controller/policy/plugin_labels.h"
#include "controller/policy/plugin_preflight.h"
#include "controller/policy/policy_status.h"
#include "controller/policy/pool_survey.h"
#include "controller/policy/priority_classes.h"
#include "controller/policy/reconcile.h"

namespace berth {
namespace {

// Requeues for the times at which the plan changes although no object changes.
void plan_wake_ups(const Snapshot& snapshot, const GPUClusterPolicy& policy, const PluginFile& file,
                   Plan& plan) {
  const auto wake_at = [&](const std::optional<Time>& at) {
    if (at && snapshot.now < *at) plan.requeue_in(std::chrono::ceil<Duration>(*at - snapshot.now));
  };
  const DisruptionStatus calendar =
      DisruptionCalendar(policy.spec.disruption, snapshot.zones).at(snapshot.now);
  wake_at(calendar.open ? calendar.closes : calendar.next_opening);
  wake_at(file.settles_at());
  // A refused write is tried again once the refusal no longer counts.
  if (refused_write_by(snapshot, names::kManagerPolicy))
    plan.requeue_in(snapshot.settings.answer_ttl);
}

// The cache may be behind, and a node that it misses would keep the policy's labels for ever.
Guard look_at_nodes(const GPUClusterPolicy& policy) {
  Guard look;
  look.node = ref_of(policy);
  look.question = "is nothing of it left on any node?";
  look.refuse_any = [](const std::vector<Node>& nodes) -> std::optional<std::string> {
    const auto carrier = std::ranges::find_if(nodes, carries_policy);
    if (carrier == nodes.end()) return std::nullopt;
    return fmt::format("node {} carries it, and the cache is behind", carrier->meta.name);
  };
  return look;
}

// Nothing is removed, so a policy that is applied again finds everything in place.
void plan_farewell(const GPUClusterPolicy& policy, Plan& plan) {
  if (!has_finalizer(policy.meta)) return;
  plan.add(ref_of(policy),
           write_finalizer(ref_of(policy), policy.meta, false, names::kManagerPolicy,
                           "deletionPolicy Retain: nodes stay as they are, remove the finalizer"));
  plan.events.push_back({ref_of(policy), false, reasons::kDeleted, "Apply",
                         "deletionPolicy Retain: nodes keep their labels, taints and sharing"});
}

}  // namespace

Plan reconcile_policy(const Snapshot& snapshot) {
  Plan plan;
  const GPUClusterPolicy* policy = snapshot.cluster.gpu_policies().find(limits::kPolicyName);
  if (policy == nullptr) return plan;
  const bool going = policy->meta.deletion_timestamp.has_value();
  if (leaves_nodes_as_they_are(*policy)) {
    plan_farewell(*policy, plan);
    return plan;
  }
  if (!going) {
    if (const std::vector<Error> errors = check_rules(*policy); !errors.empty()) {
      plan.statuses.push_back(compute_stuck_status(
          snapshot, *policy, {reasons::kPolicyInvalid, describe(errors.front())}));
      return plan;
    }
    // The finalizer comes before any write to a node: a policy that is deleted without it would
    // leave the labels there.
    if (!has_finalizer(policy->meta)) {
      plan.add(ref_of(*policy),
               write_finalizer(ref_of(*policy), policy->meta, true, names::kManagerPolicy,
                               "carry out its deletionPolicy before it is gone"));
      if (const auto refused = refused_write(snapshot, ref_of(*policy), names::kManagerPolicy))
        plan.statuses.push_back(
            compute_stuck_status(snapshot, *policy, {reasons::kWriteRefused, refused->message}));
      return plan;
    }
  }
  const PoolSurvey survey = survey_pools(snapshot, *policy);
  const PluginFile file(snapshot, policy->spec.agents.device_plugin_config_map,
                        going ? std::vector<PoolSpec>() : policy->spec.pools, survey.plugin_keys);
  if (!is_stopped(snapshot)) file.plan(plan);
  const SlotLedger& ledger = read_ledger(snapshot);
  DisruptionBudgets budgets(snapshot, ledger);
  const std::optional<Cause> unread = plugin_not_configured(snapshot, *policy, survey, file);
  const PluginLabels labels = decide_plugin_labels(snapshot, survey, file, unread, budgets);
  for (const PluginLabelDue* due : labels.take) plan_plugin_label(*due, plan);
  for (const RetreatDue* due : labels.retreat) plan_retreat(*due, plan);
  const PriorityClassPlan classes = plan_priority_classes(snapshot, *policy, plan);

  if (going && has_finalizer(policy->meta) && survey.carrying == 0 && classes.standing == 0) {
    if (!snapshot.offline) plan.add(ref_of(*policy), look_at_nodes(*policy));
    plan.add(ref_of(*policy),
             write_finalizer(ref_of(*policy), policy->meta, false, names::kManagerPolicy,
                             "nothing of it is left on any node: remove the finalizer"));
    plan.events.push_back(
        {ref_of(*policy), false, reasons::kDeleted, "Apply", "nothing of it is left on any node"});
  }
  plan_wake_ups(snapshot, *policy, file, plan);
  plan.statuses.push_back(
      compute_policy_status(snapshot, *policy, {survey, file, unread, labels, classes}));
  return plan;
}

}  // namespace berth
