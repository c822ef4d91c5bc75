// SPDX-License-Identifier: Apache-2.0
// Before the label is written: the node is claimed, then Cordoned while its pods leave.
#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/cause.h"
#include "controller/core/patience.h"
#include "controller/core/seeded_bugs.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"
#include "controller/mig/drain_steps.h"
#include "controller/mig/node_patch.h"
#include "controller/mig/node_steps.h"
#include "controller/mig/preflight.h"

namespace berth {
namespace {

constexpr char kReleasedByHand[] =
    "uncordoned by hand while berth drained it; remove this annotation to let berth try again";

constexpr Duration kClaimLasts = std::chrono::minutes(1);
constexpr int kTriesOfAClaim = 3;

}  // namespace

// --- claimed ---

void NodeSteps::cordon_claimed() {
  if (s_.slot->epoch > s_.snapshot.epoch && !s_.snapshot.offline &&
      !seeded(SeededBug::kNoEpochTest))
    return;
  if (ledger_may_know()) return plan_.requeue_in(s_.snapshot.settings.answer_ttl);
  if (auto why = reason_to_drop_claim()) return drop_claim(*why);
  // Other nodes may be possible, and they would wait for this node's slot.
  if (const auto refused = s_.refused();
      refused && refused->times >= kTriesOfAClaim && !seeded(SeededBug::kKeepRefusedClaim))
    return drop_claim(refused->message, reasons::kWriteRefused);
  const MIGLayout& layout = *s_.owner;
  const Target& target = *s_.target;

  const bool reassert = s_.record.rollout && now().config == target.config;
  NodeRollout taken = s_.record.rollout.value_or(NodeRollout{});
  taken.seq = s_.slot->seq;
  taken.epoch = s_.slot->epoch;
  taken.layout_uid = layout.meta.uid;
  taken.layout = layout.meta.name;
  taken.config = target.config;
  taken.previous = base_config(s_.label());
  taken.phase = RolloutPhase::kCordoned;
  taken.since = s_.snapshot.now;
  taken.taken = s_.snapshot.now;
  taken.not_before.reset();
  taken.reasserts = reassert ? taken.reasserts + 1 : 0;
  const bool kept_out = s_.record.kept_out() && s_.node.cordoned();
  taken.berth_cordoned =
      (!s_.node.cordoned() || kept_out) && !seeded(SeededBug::kCordonWithoutRecord);
  // If the node is out of service after a failure, keep the failure: if berth restores it, it is no
  // better than before.
  if (!kept_out) {
    taken.failed_config.clear();
    taken.why.clear();
    taken.cause.clear();
  }
  NodePatch(s_).cordon().rollout(taken).plan(
      plan_, fmt::format("cordon for MIGLayout {}", layout.meta.name));
  tell(false, reasons::kCordoned, "Cordon",
       fmt::format("{} for MIGLayout {}, which asks for {}",
                   kept_out               ? "taken while still cordoned by berth"
                   : taken.berth_cordoned ? "cordoned"
                                          : "taken, already cordoned,",
                   layout.meta.name, format(target.layout)));
}

std::optional<std::string> NodeSteps::reason_to_drop_claim() const {
  if (s_.slot->epoch != s_.snapshot.epoch && !s_.snapshot.offline &&
      !seeded(SeededBug::kNoEpochTest))
    return "it was claimed by a former leader";
  if (s_.slot->seq != s_.record.seq() + 1) return "its sequence number has moved on";
  // A claim's cordon follows at once. An old claim may be a slot that was given back, if a user
  // removed the annotation that says so.
  if (!s_.record.text && s_.snapshot.now - s_.slot->since > kClaimLasts)
    return fmt::format("annotation {} is gone", names::kRolloutAnnotation);
  if (auto why = reason_to_restore(s_)) return why;
  if (s_.slot->layout() != s_.owner->meta.name) return "another MIGLayout owns the node now";
  if (s_.held()) return fmt::format("it is held by annotation {}", names::kHoldAnnotation);
  if (auto obstacle = obstacle_on(s_.snapshot, s_.node)) return obstacle->message;
  return agent_not_configured(s_.snapshot);
}

// The cordon of this claim may still be on its way. Raising the sequence number first makes it
// fail. reconcile_slots frees the slot afterwards.
void NodeSteps::drop_claim(const std::string& why, std::string_view cause) {
  NodeRollout idle = s_.record.rollout.value_or(NodeRollout{.since = s_.snapshot.now});
  idle.seq = s_.slot->seq;
  idle.epoch = s_.slot->epoch;
  if (!cause.empty()) put_off(idle, s_.snapshot.settings.retry_backoff, why, cause);
  NodePatch(s_).rollout(idle).plan(
      plan_, fmt::format("give the slot back: {}", cause.empty() ? why : "its cordon is refused"));
}

// --- Cordoned ---

void NodeSteps::leave_cordoned() {
  // A user wants the node back. berth never cordons it against the user.
  if (!s_.node.cordoned()) {
    NodePatch patch(s_);
    patch.same_cordon();
    if (!s_.held()) patch.hold(kReleasedByHand);
    NodeRollout idle = next(RolloutPhase::kIdle);
    idle.config = config_found();
    idle.berth_cordoned = false;
    patch.rollout(idle).plan(plan_, "the node was uncordoned by hand: hold its rollout");
    return tell(true, reasons::kUncordonedByHand, "Hold",
                fmt::format("uncordoned by hand while berth drained it; remove annotation {} to "
                            "let berth try again",
                            names::kHoldAnnotation));
  }
  if (s_.held() || in_others_hands(s_.node)) return;
  if (auto why = reason_to_restore(s_)) return restore(*why);
  if (auto why = agent_not_configured(s_.snapshot)) return restore(*why);

  const DrainSpec& drain = s_.rules->drain;
  // Allocatable was right when berth took the node, so berth evicts no pod just for a label.
  if (now().reasserts > 0 && !drain_progress(s_.snapshot, s_.node, drain, now().since).empty)
    return restore("its GPUs are in use, and only the label differs");
  const DrainProgress progress = plan_drain(s_.snapshot, s_.node, drain, now().since, plan_);
  if (progress.timed_out)
    return restore(fmt::format("drain timed out: {}", progress.cause.message),
                   progress.cause.reason);
  if (!progress.empty) return;
  if (!seeded(SeededBug::kNoSettle) && !has_settled()) return;
  apply();
}

// Whether the cordon has been in effect long enough for pending bindings to arrive.
bool NodeSteps::has_settled() {
  const std::optional<Time> stood = cordon_stood_at();
  if (stood) return !wait_until(*stood + s_.snapshot.settings.settle);
  plan_.add(ref_of(s_.node), look_at_cordon());
  plan_.requeue_in(s_.snapshot.settings.settle);
  return false;
}

// Returns the earliest time at which berth knows that the cordon was in effect: from the reply to
// the cordon, or, if that was lost with a connection or a process, from a live read. If the cordon
// was decided longer ago than a request can last, neither is needed.
std::optional<Time> NodeSteps::cordon_stood_at() const {
  const Snapshot& snapshot = s_.snapshot;
  const Duration unsure = kRequestTimeout + snapshot.settings.settle;
  const Time decided = now().since;
  if (snapshot.offline || snapshot.now - decided > unsure) return decided;
  for (const Step& step : {any_patch(), Step(look_at_cordon())}) {
    const Answer* answer = snapshot.answers.find(question(step), snapshot.now, unsure);
    if (answer != nullptr && answer->yes && answer->at >= decided) return answer->at;
  }
  return std::nullopt;
}

Guard NodeSteps::look_at_cordon() const {
  return {.node = ref_of(s_.node),
          .question = "is the node still cordoned?",
          .refuse = [uid = s_.node.meta.uid, text = s_.record.text](const Node& node,
                                                                    const std::vector<Pod>&) {
            return reason_not_ours(node, uid, text);
          }};
}

void NodeSteps::apply() {
  std::optional<Cause> wait = obstacle_on(s_.snapshot, s_.node);
  if (!wait && s_.agent_at_work())
    wait = {reasons::kAgentPending,
            fmt::format("mig-manager is still applying {} (state {})", s_.label(), s_.state())};
  std::optional<std::string> label = next_label(s_.target->config, s_.label());
  if (!wait && (!label || !config_is_rendered(s_.snapshot, *label)))
    wait = file_lacks(s_.snapshot, s_.target->config);
  // The node is empty and idle, and must not stay out of service for ever.
  const Time deadline = patience_ends(s_.snapshot, now().since, s_.rules->drain.timeout);
  if (wait) {
    if (!wait_until(deadline)) restore(wait->message, wait->reason);
    return;
  }
  if (const auto refused = s_.refused(); refused && !wait_until(deadline))
    return restore(refused->message, reasons::kWriteRefused);
  NodeRollout applying = next(RolloutPhase::kApplying);
  applying.layout_uid = s_.owner->meta.uid;
  applying.layout = s_.owner->meta.name;
  applying.config = s_.target->config;
  applying.attempt = 0;
  applying.failed_config.clear();
  write_label(std::move(applying), fmt::format("apply {}", s_.target->config),
              reasons::kRepartitioning);
}

void NodeSteps::restore(const std::string& why, std::string_view cause) {
  // berth gave up once, and the mig-manager has done nothing since, so the node is no better than
  // before.
  if (!now().failed_config.empty()) return fail(why);
  NodeRollout idle = next(RolloutPhase::kIdle);
  idle.config = config_found();
  idle.berth_cordoned = false;
  if (!cause.empty()) put_off(idle, s_.snapshot.settings.abort_backoff, why, cause);
  NodePatch patch(s_);
  if (now().berth_cordoned || seeded(SeededBug::kUncordonUnowned)) patch.uncordon();
  patch.rollout(idle).plan(plan_, fmt::format("restore: {}", why));
  tell(!cause.empty(), reasons::kRestored, "Restore",
       fmt::format("{} without a change: {}{}",
                   now().berth_cordoned ? "uncordoned" : "left cordoned, as berth found it,", why,
                   idle.not_before
                       ? fmt::format("; tried again after {}", format_time(*idle.not_before))
                       : ""));
}

}  // namespace berth
