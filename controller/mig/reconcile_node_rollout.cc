// SPDX-License-Identifier: Apache-2.0
// The phases of one node: claimed → Cordoned (its pods leave) → Applying (the mig-manager works,
// and allocatable is verified) → Idle; and Failed and RollingBack. Each step is one patch of the
// node that tests what the step was decided on. Each case below plans at most one step.
#include "controller/mig/node_steps.h"
#include "controller/mig/reconcile.h"

namespace berth {

void NodeSteps::run() {
  if (s_.record_is_lost()) return recall();
  if (s_.record.foreign) return drop_foreign();
  if (s_.record.unreadable()) {
    if (s_.slot_is_ours()) overwrite_unreadable();
    return;  // no rollout is in progress; the status says what to do
  }
  if (s_.record.idle()) {
    if (s_.slot_is_ours() && s_.slot->seq > s_.record.seq()) return cordon_claimed();
    if (s_.record.kept_out()) leave_kept_out();
    return;
  }
  switch (now().phase) {
    case RolloutPhase::kIdle:
      return;
    case RolloutPhase::kCordoned:
      return leave_cordoned();
    case RolloutPhase::kApplying:
    case RolloutPhase::kRollingBack:
      return leave_applying();
    case RolloutPhase::kFailed:
      return leave_failed();
  }
}

Plan reconcile_node_rollout(const Snapshot& snapshot, std::string_view name) {
  Plan plan;
  const Node* node = snapshot.cluster.nodes().find(name);
  if (node == nullptr) return plan;  // reconcile_slots frees its slot
  LayoutView view(snapshot);
  const Situation situation = situation_of(snapshot, view, *node);
  NodeSteps(situation, plan).run();
  return plan;
}

}  // namespace berth
