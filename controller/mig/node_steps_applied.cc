// SPDX-License-Identifier: Apache-2.0
// After the label is written: Applying and RollingBack until allocatable is verified, or Failed.
#include <fmt/format.h>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/patience.h"
#include "controller/core/seeded_bugs.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/node_patch.h"
#include "controller/mig/node_steps.h"
#include "controller/mig/preflight.h"

namespace berth {
namespace {

constexpr std::int64_t kMaxAttempts = 2;  // label writes after the first

}  // namespace

void NodeSteps::leave_applying() {
  using State = Verification::State;
  if (now().berth_cordoned && !s_.node.cordoned()) return disown_cordon();
  // While another operator works on the node, berth writes neither label nor uncordon. A label of
  // that operator ends its work.
  if (in_others_hands(s_.node)) return;
  const Verification verification = verify(s_);
  const Time deadline =
      patience_ends(s_.snapshot, now().since, s_.rules->rollout.progress_deadline);
  const bool right = verification.state == State::kDone || verification.state == State::kSteadying;
  // This concerns any next write. After the deadline berth stops waiting for the API server to
  // accept it.
  if (const auto refused = s_.refused(); refused && !right && !wait_until(deadline))
    return fail(refused->message);
  switch (verification.state) {
    case State::kForeignLabel:
      return fail(verification.cause.message);
    case State::kDone:
    case State::kSteadying:
      if (superseded()) return go_on_to_target();
      if (verification.state == State::kSteadying && !seeded(SeededBug::kUncordonEarly))
        return (void)wait_until(verification.due);
      return finish();
    case State::kMismatch:
      if (superseded()) return go_on_to_target();
      break;
    case State::kAgentFailed:
      if (superseded()) return go_on_to_target();
      return retry_failed_agent(verification);
    case State::kAgentWorking:
      break;
  }
  if (wait_until(deadline)) return;
  const std::string why = fmt::format("not done within {}: {}",
                                      format_duration_short(s_.rules->rollout.progress_deadline),
                                      verification.cause.message);
  // If the mig-manager hangs, berth triggers it once more, and then treats it as failed.
  const std::int64_t attempts = verification.state == State::kAgentWorking ? 1 : kMaxAttempts;
  if (now().attempt >= attempts) return give_up(why);
  NodeRollout again = next(now().phase);
  again.attempt = now().attempt + 1;
  write_label(std::move(again), fmt::format("try again: {}", why), reasons::kRetrying);
}

// A user wants the node back while its GPUs are being repartitioned. The repartitioning continues.
// But a cordon that exists afterwards is not berth's, and the record has to say so before the user
// cordons the node again.
void NodeSteps::disown_cordon() {
  NodeRollout theirs = now();
  theirs.berth_cordoned = false;
  NodePatch(s_).same_cordon().rollout(theirs).plan(
      plan_, "the node was uncordoned by hand: its cordon is no longer berth's");
  tell(
      true, reasons::kUncordonedByHand, "Repartition",
      "uncordoned by hand while its GPUs are being repartitioned; new pods may land before that is "
      "done");
}

void NodeSteps::retry_failed_agent(const Verification& verification) {
  NodeRollout again = next(now().phase);
  // The kubelet projects a changed ConfigMap late. So berth ignores a `failed` state for a config
  // that the mig-manager could not know yet, and does not count it.
  const Time known = agent_config_changed_at(s_.snapshot).value_or(Time{}) +
                     s_.snapshot.settings.agent_config_map_delay;
  if (now().since < known) {
    if (wait_until(known)) return;
    return write_label(std::move(again), "try again: the agent may not have known the config yet",
                       reasons::kRetrying);
  }
  if (now().attempt >= kMaxAttempts) return give_up(verification.cause.message);
  if (!now().not_before) {
    NodeRollout waiting = now();
    waiting.not_before =
        s_.snapshot.now + back_off(s_.snapshot.settings.retry_backoff, now().attempt);
    NodePatch(s_).restore_paused_labels().rollout(waiting).plan(
        plan_, fmt::format("try again after {}: {}", format_time(*waiting.not_before),
                           verification.cause.message));
    return tell(true, reasons::kAgentFailed, "Repartition", verification.cause.message);
  }
  if (wait_until(*now().not_before)) return;
  again.attempt = now().attempt + 1;
  write_label(std::move(again), fmt::format("try again: {}", verification.cause.message),
              reasons::kRetrying);
}

// Whether the layout asks for something else since the label was written.
bool NodeSteps::superseded() const {
  return now().phase == RolloutPhase::kApplying && asks_for_another() &&
         !s_.gives_target(now().config);
}

void NodeSteps::finish() {
  if (s_.held() && now().berth_cordoned && !seeded(SeededBug::kUncordonHeld))
    return;  // a user who holds the node wants it out of service
  NodeRollout idle = next(RolloutPhase::kIdle);
  idle.attempt = 0;
  idle.berth_cordoned = false;
  if (idle.failed_config == idle.config) idle.failed_config.clear();
  NodePatch patch(s_);
  patch.same_config();
  if ((now().berth_cordoned || seeded(SeededBug::kUncordonUnowned)) &&
      !seeded(SeededBug::kForgetToUncordon))
    patch.uncordon();
  patch.rollout(idle).plan(
      plan_, fmt::format("{} is verified: {}", now().config,
                         now().berth_cordoned ? "uncordon" : "leave it cordoned as it was"));
  const Time taken = now().taken.value_or(now().since);
  auto span = [](Time from, Time to) {
    return format_duration_short(std::chrono::duration_cast<std::chrono::seconds>(to - from));
  };
  const bool rolled_back = now().phase == RolloutPhase::kRollingBack;
  tell(rolled_back, rolled_back ? reasons::kRolledBack : reasons::kRepartitioned, "Uncordon",
       fmt::format(
           "{} is in force; drained for {}, repartitioned and verified in {}, unavailable for {}",
           now().config, span(taken, now().since), span(now().since, s_.snapshot.now),
           span(taken, s_.snapshot.now)));
  if (std::string late = late_pods(s_); !late.empty())
    tell(true, reasons::kLateBinding, "Repartition",
         fmt::format("bound to the node while its GPUs were being repartitioned: {}", late));
}

// The node can't reach the target. Under Rollback berth applies the previous config by the same
// steps. Otherwise, or if that is what failed, the node stays out of service until a user looks at
// it.
void NodeSteps::give_up(const std::string& why) {
  const bool can_roll_back = s_.rules->rollout.failure_policy == FailurePolicy::kRollback &&
                             now().phase == RolloutPhase::kApplying;
  if (!can_roll_back) return fail(why);
  const std::string previous =
      now().previous.empty() ? std::string(names::kAllDisabled) : now().previous;
  if (previous == now().config || !config_is_rendered(s_.snapshot, previous)) return fail(why);
  NodeRollout back = next(RolloutPhase::kRollingBack);
  back.failed_config = now().config;
  back.config = previous;
  back.attempt = 0;
  back.why = why;
  write_label(std::move(back), fmt::format("roll back to {}: {}", previous, why),
              reasons::kRollingBack);
}

// --- Failed ---

void NodeSteps::leave_failed() {
  if (in_others_hands(s_.node)) return;
  if (s_.owner == nullptr || s_.owner->meta.deletion_timestamp)
    return release("the MIGLayout that took the node is gone or no longer selects it");
  if (!s_.node.cordoned()) return release("it was uncordoned by hand");
  if (asks_for_another() && !s_.is_right()) return go_on_to_target();
  // The mig-manager succeeded after all, for example after a user repaired it.
  const Verification verification = verify(s_);
  if (verification.state == Verification::State::kDone) return finish();
  if (verification.state == Verification::State::kSteadying) wait_until(verification.due);
}

// Releases the node as it is. The config stays marked as failed, so that berth does not try it on
// this node again. A cordon by berth stays recorded as berth's, because otherwise it would never be
// removed.
void NodeSteps::release(const std::string& why) {
  NodeRollout idle = next(RolloutPhase::kIdle);
  idle.berth_cordoned =
      now().berth_cordoned && s_.node.cordoned() && !seeded(SeededBug::kForgetCordon);
  idle.attempt = 0;
  NodePatch(s_).same_cordon().rollout(idle).plan(plan_, fmt::format("release: {}", why));
  tell(true, reasons::kReleased, "Release",
       fmt::format("{}; {}: {}", why,
                   idle.berth_cordoned
                       ? "it stays cordoned by berth until a MIGLayout succeeds here; or uncordon "
                         "it once its GPUs are in order"
                   : s_.node.cordoned()
                       ? "it stays cordoned as berth found it, and its GPUs may not be in order"
                       : "its GPUs may not be in order",
                   now().why));
}

}  // namespace berth
