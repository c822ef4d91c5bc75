// SPDX-License-Identifier: Apache-2.0
// One node's way: claimed → Cordoned (its pods leave) → Applying (the agent works, allocatable is
// verified) → Idle; with Failed and RollingBack beside it. Each step is one patch of the node that
// tests what the step was decided on, and each case below plans at most one.
#include <fmt/format.h>

#include <algorithm>

#include "apis/names.h"
#include "controller/mig/drain_steps.h"
#include "controller/mig/node_facts.h"
#include "controller/mig/node_patch.h"
#include "controller/mig/preflight.h"
#include "controller/mig/reasons.h"
#include "controller/mig/reconcile.h"
#include "controller/mig/situation.h"
#include "controller/mig/verification.h"

namespace berth {
namespace {

constexpr std::int64_t kMaxAttempts = 2;  // label writes after the first
constexpr std::int64_t kMaxBackoff = 16;  // times the base

constexpr char kReleasedByHand[] =
    "uncordoned by hand while berth drained it; remove this annotation to let berth try again";

// The rollout of one node, step by step. `s` and `plan` outlive it.
class NodeSteps {
 public:
  NodeSteps(const Situation& s, Plan& plan) : s_(s), plan_(plan) {}
  void run();

 private:
  void overwrite_unreadable();
  void cordon_claimed();
  void leave_cordoned();
  void leave_applying();
  void leave_failed();

  std::optional<std::string> reason_to_drop_claim() const;
  void drop_claim(const std::string& why);
  void restore(const std::string& why, bool back_off);
  void apply();
  void finish();
  void go_on_to_target();
  void retry_failed_agent(const Verification& verification);
  void write_label(NodeRollout next, const std::string& reason, const char* event);
  void give_up(const std::string& why);
  void fail(const std::string& why);
  void release(const std::string& why);

  const NodeRollout& now() const { return *s_.record.rollout; }
  NodeRollout next(RolloutPhase phase) const;
  // True if it is not that late yet; the key is due again then.
  bool wait_until(Time due);
  Time settled_at() const;
  // What the node had when it was taken: the config berth last applied, if only its label had been
  // changed by somebody.
  std::string config_found() const { return now().reasserts > 0 ? now().config : now().previous; }
  bool superseded() const;
  bool asks_for_another() const;
  Duration back_off(Duration base, std::int64_t attempt) const;
  void tell(bool warning, const char* reason, const char* action, std::string note);

  const Situation& s_;
  Plan& plan_;
};

void NodeSteps::run() {
  if (s_.record.unreadable()) {
    if (s_.slot_is_ours()) overwrite_unreadable();
    return;  // nothing is under way: status says what to do
  }
  if (s_.record.idle()) {
    if (s_.slot_is_ours() && s_.slot->seq > s_.record.seq()) cordon_claimed();
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

// --- claimed ---

// Somebody wrote something else into the annotation of a node that holds a slot. Whether berth
// cordoned the node is lost with it, so it stays as it is.
void NodeSteps::overwrite_unreadable() {
  NodeRollout idle;
  idle.seq = s_.slot->seq;
  idle.epoch = s_.slot->epoch;
  idle.since = s_.snapshot.now;
  NodePatch(s_).rollout(idle).plan(
      plan_,
      fmt::format("replace annotation {}, which berth can't read", names::kRolloutAnnotation));
  tell(true, "RolloutForgotten", "Restore",
       fmt::format("annotation {} was overwritten by somebody; if berth had cordoned the node, "
                   "uncordon it",
                   names::kRolloutAnnotation));
}

void NodeSteps::cordon_claimed() {
  if (s_.slot->epoch > s_.snapshot.epoch && !s_.snapshot.offline) return;
  if (auto why = reason_to_drop_claim()) return drop_claim(*why);
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
  taken.berth_cordoned = !s_.node.cordoned();
  taken.failed_config.clear();
  taken.why.clear();
  NodePatch(s_).cordon().rollout(taken).plan(
      plan_, fmt::format("cordon for MIGLayout {}", layout.meta.name));
  tell(false, "Cordoned", "Cordon",
       fmt::format("{} for MIGLayout {}: to become {}",
                   taken.berth_cordoned ? "cordoned" : "taken, cordoned as it was,",
                   layout.meta.name, format(target.layout)));
}

std::optional<std::string> NodeSteps::reason_to_drop_claim() const {
  if (s_.slot->epoch != s_.snapshot.epoch && !s_.snapshot.offline)
    return "it was claimed by a former leader";
  if (s_.slot->seq != s_.record.seq() + 1) return "its sequence number has moved on";
  if (auto why = reason_to_restore(s_)) return why;
  if (s_.slot->holder != "MIGLayout/" + s_.owner->meta.name)
    return "another MIGLayout owns the node now";
  if (s_.held()) return fmt::format("it is held by annotation {}", names::kHoldAnnotation);
  if (auto obstacle = obstacle_on(s_.snapshot, s_.node)) return obstacle->message;
  return agent_not_configured(s_.snapshot);
}

// The cordon that belongs to the claim may still be in flight. Raising the sequence number first
// makes it fail; reconcile_slots frees the slot afterwards.
void NodeSteps::drop_claim(const std::string& why) {
  NodeRollout idle = s_.record.rollout.value_or(NodeRollout{.since = s_.snapshot.now});
  idle.seq = s_.slot->seq;
  idle.epoch = s_.slot->epoch;
  NodePatch(s_).rollout(idle).plan(plan_, fmt::format("give the slot back: {}", why));
}

// --- Cordoned ---

void NodeSteps::leave_cordoned() {
  // A person wants the node back: berth never cordons it against them.
  if (!s_.node.cordoned()) {
    NodePatch patch(s_);
    patch.same_cordon();
    if (!s_.held()) patch.hold(kReleasedByHand);
    NodeRollout idle = next(RolloutPhase::kIdle);
    idle.config = config_found();
    patch.rollout(idle).plan(plan_, "the node was uncordoned by hand: hold its rollout");
    return tell(true, "UncordonedByHand", "Hold",
                fmt::format("uncordoned by hand while berth drained it; remove annotation {} to "
                            "let berth try again",
                            names::kHoldAnnotation));
  }
  if (s_.held() || !driver_upgrade(s_.node).empty() || !deletion_mark(s_.node).empty()) return;
  if (auto why = reason_to_restore(s_)) return restore(*why, false);
  if (auto why = agent_not_configured(s_.snapshot)) return restore(*why, false);

  const DrainSpec& drain = s_.rules->drain;
  // Allocatable was right when the node was taken, so nobody is evicted for the sake of a label.
  if (now().reasserts > 0 && !drain_progress(s_.snapshot, s_.node, drain, now().since).empty)
    return restore("its GPUs are in use, and only the label differs", false);
  const DrainProgress progress = plan_drain(s_.snapshot, s_.node, drain, now().since, plan_);
  if (progress.timed_out)
    return restore(fmt::format("drain timed out: {}", progress.message), true);
  if (!progress.empty) return;
  if (wait_until(settled_at())) return;
  apply();
}

// "Cordoned" for as long as bindings in flight may take to land. The cordon's reply, if this
// process had it, is the better witness of when the cordon took effect.
Time NodeSteps::settled_at() const {
  Time cordoned = now().since;
  const Answer* reply =
      s_.snapshot.answers.find(question(Write{.verb = Verb::kJsonPatch, .object = ref_of(s_.node)}),
                               s_.snapshot.now, s_.snapshot.settings.answer_ttl);
  if (reply != nullptr && reply->yes) cordoned = std::max(cordoned, reply->at);
  return cordoned + s_.snapshot.settings.settle;
}

void NodeSteps::apply() {
  const std::string_view state = s_.state();
  std::optional<std::string> wait;
  if (auto obstacle = obstacle_on(s_.snapshot, s_.node))
    wait = obstacle->message;
  else if (state == "pending" || state == "rebooting")
    wait = fmt::format("mig-manager is at work on {} (state {})", s_.label(), state);
  std::optional<std::string> label = next_label(s_.target->config, s_.label());
  if (!wait && (!label || !config_is_rendered(s_.snapshot, *label)))
    wait = fmt::format("the agents' file has no entry {} yet", s_.target->config);
  if (wait) {
    // The node is empty and idle: it must not stay out for ever.
    const Time deadline = now().since + s_.rules->drain.timeout;
    if (!wait_until(deadline)) restore(*wait, true);
    return;
  }
  NodeRollout applying = next(RolloutPhase::kApplying);
  applying.layout_uid = s_.owner->meta.uid;
  applying.layout = s_.owner->meta.name;
  applying.config = s_.target->config;
  applying.attempt = 0;
  applying.failed_config.clear();
  write_label(std::move(applying), fmt::format("apply {}", s_.target->config), "Repartitioning");
}

void NodeSteps::restore(const std::string& why, bool back_off_first) {
  // Given up on once, and the agent has done nothing since: it is no better than it was.
  if (!now().failed_config.empty()) return fail(why);
  NodeRollout idle = next(RolloutPhase::kIdle);
  idle.config = config_found();
  idle.berth_cordoned = false;
  if (back_off_first) {
    idle.not_before = s_.snapshot.now + back_off(s_.snapshot.settings.abort_backoff, now().attempt);
    idle.attempt = now().attempt + 1;
  }
  NodePatch patch(s_);
  if (now().berth_cordoned) patch.uncordon();
  patch.rollout(idle).plan(plan_, fmt::format("restore: {}", why));
  tell(back_off_first, "Restored", "Restore",
       fmt::format("{} without a change: {}{}",
                   now().berth_cordoned ? "uncordoned" : "left cordoned, as berth found it,", why,
                   idle.not_before
                       ? fmt::format("; tried again after {}", format_time(*idle.not_before))
                       : ""));
}

// --- Applying, RollingBack ---

void NodeSteps::leave_applying() {
  using State = Verification::State;
  const Verification verification = verify(s_);
  const Time deadline = now().since + s_.rules->rollout.progress_deadline;
  switch (verification.state) {
    case State::kForeignLabel:
      return fail(verification.message);
    case State::kDone:
    case State::kSteadying:
      if (superseded()) return go_on_to_target();
      if (verification.state == State::kSteadying) return (void)wait_until(verification.due);
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
  const std::string why =
      fmt::format("not done within {}: {}",
                  format_duration_short(s_.rules->rollout.progress_deadline), verification.message);
  // A wedged agent is set going once more, then treated as failed.
  const std::int64_t attempts = verification.state == State::kAgentWorking ? 1 : kMaxAttempts;
  if (now().attempt >= attempts) return give_up(why);
  NodeRollout again = next(now().phase);
  again.attempt = now().attempt + 1;
  write_label(std::move(again), fmt::format("try again: {}", why), "Retrying");
}

void NodeSteps::retry_failed_agent(const Verification& verification) {
  NodeRollout again = next(now().phase);
  // The kubelet projects a changed ConfigMap late: a `failed` for a name the agent could not know
  // yet is not believed, and does not count.
  std::optional<Time> changed = agent_config_changed_at(s_.snapshot);
  const Time known = changed.value_or(Time{}) + s_.snapshot.settings.agent_config_map_delay;
  if (changed && now().since < known) {
    if (wait_until(known)) return;
    return write_label(std::move(again), "try again: the agent may not have known the config yet",
                       "Retrying");
  }
  if (now().attempt >= kMaxAttempts) return give_up(verification.message);
  if (!now().not_before) {
    NodeRollout waiting = now();
    waiting.not_before =
        s_.snapshot.now + back_off(s_.snapshot.settings.retry_backoff, now().attempt);
    NodePatch(s_).restore_paused_labels().rollout(waiting).plan(
        plan_, fmt::format("try again after {}: {}", format_time(*waiting.not_before),
                           verification.message));
    return tell(true, "AgentFailed", "Repartition", verification.message);
  }
  if (wait_until(*now().not_before)) return;
  again.attempt = now().attempt + 1;
  write_label(std::move(again), fmt::format("try again: {}", verification.message), "Retrying");
}

// Every write of mig.config: on a cordoned node that is still ours, with no pod that a cut would
// hurt, which the guard asks the API server itself right before.
void NodeSteps::write_label(NodeRollout written, const std::string& reason, const char* event) {
  std::optional<std::string> label = next_label(written.config, s_.label());
  if (!label) return fail(fmt::format("{}; {} has no room for an alias", reason, written.config));
  if (!s_.node.cordoned())
    return fail(fmt::format("{}; but the node was uncordoned by hand", reason));
  // Bound late, past the cordon: they leave as politely as the others did.
  if (now().phase != RolloutPhase::kCordoned) {
    const Time patience =
        now().not_before.value_or(now().since + s_.rules->rollout.progress_deadline);
    const DrainProgress late = plan_drain(s_.snapshot, s_.node, s_.rules->drain, patience, plan_);
    if (late.timed_out)
      return fail(fmt::format("pods bound after the cordon don't leave: {}", late.message));
    if (!late.empty) return;
  }
  Guard guard;
  guard.node = ref_of(s_.node);
  guard.question = "is the node still cordoned and ours, with no GPU pod bound?";
  guard.refuse = [uid = s_.node.meta.uid, text = s_.record.text, drain = s_.rules->drain,
                  settings = s_.snapshot.settings](
                     const Node& node, const std::vector<Pod>& pods) -> std::optional<std::string> {
    if (node.meta.uid != uid) return "the node is another one of the same name";
    if (!node.cordoned()) return "the node is schedulable";
    if (read_rollout(node).text != text) return "the rollout annotation has changed";
    for (const Pod& pod : pods)
      if (must_leave(pod, drain, settings))
        return fmt::format("pod {}/{} is bound to the node", pod.meta.namespace_.view(),
                           pod.meta.name);
    return std::nullopt;
  };
  written.since = s_.snapshot.now;
  written.not_before.reset();
  NodePatch(s_).label(*label).restore_paused_labels().rollout(written).plan(plan_, reason,
                                                                            std::move(guard));
  tell(written.attempt > 0 || written.phase == RolloutPhase::kRollingBack, event, "Repartition",
       fmt::format("{}={} ({})", names::kMigConfig, *label, reason));
}

// Whether the layout has come to ask for something else since the label was written.
bool NodeSteps::superseded() const {
  return now().phase == RolloutPhase::kApplying && asks_for_another();
}

bool NodeSteps::asks_for_another() const {
  return s_.owner != nullptr && s_.target->ok() && s_.target->config != now().config &&
         s_.target->config != now().failed_config && !s_.owner->spec.rollout.paused && !s_.held() &&
         s_.node.cordoned() && check_rules(*s_.owner).empty() && !s_.view.halted(*s_.owner) &&
         !agent_not_configured(s_.snapshot);
}

// Without uncordoning between. Pods that were bound meanwhile leave as any others.
void NodeSteps::go_on_to_target() {
  NodeRollout onward = next(RolloutPhase::kCordoned);
  onward.layout_uid = s_.owner->meta.uid;
  onward.layout = s_.owner->meta.name;
  onward.config = s_.target->config;
  onward.attempt = 0;
  onward.failed_config = now().phase == RolloutPhase::kFailed ? now().failed_config : "";
  NodePatch(s_).rollout(onward).plan(
      plan_, fmt::format("go on to {}, which the layout asks for now", s_.target->config));
}

void NodeSteps::finish() {
  if (s_.held() && now().berth_cordoned) return;  // whoever holds it wants it kept out
  NodeRollout idle = next(RolloutPhase::kIdle);
  idle.attempt = 0;
  idle.berth_cordoned = false;
  if (idle.failed_config == idle.config) idle.failed_config.clear();
  NodePatch patch(s_);
  if (now().berth_cordoned) patch.uncordon();
  patch.rollout(idle).plan(
      plan_, fmt::format("{} is verified: {}", now().config,
                         now().berth_cordoned ? "uncordon" : "leave it cordoned as it was"));
  const Time taken = now().taken.value_or(now().since);
  auto span = [](Time from, Time to) {
    return format_duration_short(std::chrono::duration_cast<std::chrono::seconds>(to - from));
  };
  const bool rolled_back = now().phase == RolloutPhase::kRollingBack;
  tell(rolled_back, rolled_back ? "RolledBack" : "Repartitioned", "Uncordon",
       fmt::format("{} is in force; drained for {}, repartitioned and verified in {}, out for {}",
                   now().config, span(taken, now().since), span(now().since, s_.snapshot.now),
                   span(taken, s_.snapshot.now)));
  if (std::string late = late_pods(s_); !late.empty())
    tell(true, reasons::kLateBinding, "Repartition",
         fmt::format("bound to the node while its GPUs were being cut: {}", late));
}

// The target is beyond this node. Under Rollback the previous config by the same steps; else, or
// where that is what failed, the node stays out for a person to look at.
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
  write_label(std::move(back), fmt::format("roll back to {}: {}", previous, why), "RollingBack");
}

void NodeSteps::fail(const std::string& why) {
  NodeRollout failed = next(RolloutPhase::kFailed);
  if (failed.failed_config.empty()) failed.failed_config = now().config;
  // Nothing has been written since the failure: the label still names what failed.
  if (now().phase == RolloutPhase::kCordoned) failed.config = failed.failed_config;
  failed.why = why;
  NodePatch patch(s_);
  // An agent that works for somebody else has paused them for a reason.
  const bool foreign = !names_config(s_.label(), now().config);
  if (!foreign || s_.state() != "pending") patch.restore_paused_labels();
  patch.rollout(failed).plan(plan_, fmt::format("give up: {}", why));
  tell(true, "RolloutFailed", "Repartition",
       fmt::format("given up on {}; the node stays cordoned: {}", failed.failed_config, why));
}

// --- Failed ---

void NodeSteps::leave_failed() {
  if (s_.owner == nullptr || s_.owner->meta.deletion_timestamp)
    return release("the MIGLayout that took the node is gone or no longer selects it");
  if (!s_.node.cordoned()) return release("it was uncordoned by hand");
  if (asks_for_another()) return go_on_to_target();
  // Somebody has brought the agent to do it after all.
  const Verification verification = verify(s_);
  if (verification.state == Verification::State::kDone) return finish();
  if (verification.state == Verification::State::kSteadying) wait_until(verification.due);
}

// Out of berth's hands as it stands. The config stays marked as failed, so that it isn't tried on
// this node again.
void NodeSteps::release(const std::string& why) {
  NodeRollout idle = next(RolloutPhase::kIdle);
  idle.berth_cordoned = false;
  idle.attempt = 0;
  NodePatch(s_).same_cordon().rollout(idle).plan(plan_, fmt::format("release: {}", why));
  tell(true, "Released", "Release",
       fmt::format("{}; {}: {}", why,
                   s_.node.cordoned() ? "it stays cordoned, uncordon it once its GPUs are in order"
                                      : "its GPUs may not be in order",
                   now().why));
}

// --- what they share ---

NodeRollout NodeSteps::next(RolloutPhase phase) const {
  NodeRollout rollout = now();
  rollout.phase = phase;
  rollout.since = s_.snapshot.now;
  rollout.not_before.reset();
  return rollout;
}

bool NodeSteps::wait_until(Time due) {
  if (s_.snapshot.now >= due) return false;
  plan_.requeue_in(std::chrono::ceil<Duration>(due - s_.snapshot.now));
  return true;
}

Duration NodeSteps::back_off(Duration base, std::int64_t attempt) const {
  return base *
         std::min<std::int64_t>(kMaxBackoff, std::int64_t{1} << std::min<std::int64_t>(attempt, 4));
}

void NodeSteps::tell(bool warning, const char* reason, const char* action, std::string note) {
  plan_.events.push_back({ref_of(s_.node), warning, reason, action, std::move(note)});
}

}  // namespace

Plan reconcile_node_rollout(const Snapshot& snapshot, std::string_view name) {
  Plan plan;
  const Node* node = snapshot.cluster.nodes().find(name);
  if (node == nullptr) return plan;  // its slot is swept by reconcile_slots
  LayoutView view(snapshot);
  const Situation situation = situation_of(snapshot, view, *node);
  NodeSteps(situation, plan).run();
  return plan;
}

}  // namespace berth
