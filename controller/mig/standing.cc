// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/standing.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/cause.h"
#include "controller/core/seeded_bugs.h"
#include "controller/core/stop.h"
#include "controller/disruption/health_record.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"
#include "controller/mig/drain_steps.h"
#include "controller/mig/layout_reasons.h"
#include "controller/mig/preflight.h"
#include "controller/mig/verification.h"

namespace berth {
namespace {

constexpr std::int64_t kMaxReasserts = 3;

NodeStanding on_its_way(const Situation& s, std::string phase, Cause cause) {
  return {.node = &s.node,
          .bucket = NodeBucket::kInProgress,
          .phase = std::move(phase),
          .cause = std::move(cause),
          .since = s.record.rollout->since};
}

// If another operator works on the node, this comes before any other cause.
std::optional<Cause> others_at_work(const Situation& s) {
  if (!in_others_hands(s.node)) return std::nullopt;
  return obstacle_on(s.snapshot, s.node);
}

NodeStanding cordoned(const Situation& s) {
  if (s.held())
    return on_its_way(s, "Cordoned",
                      {reasons::kHeld,
                       fmt::format("held by annotation {} during the drain; remove it to continue",
                                   names::kHoldAnnotation)});
  if (auto others = others_at_work(s)) return on_its_way(s, "Cordoned", *std::move(others));
  DrainProgress drain = drain_progress(s.snapshot, s.node, s.rules->drain, s.record.rollout->since);
  if (!drain.empty) return on_its_way(s, "Draining", std::move(drain.cause));
  if (auto obstacle = obstacle_on(s.snapshot, s.node))
    return on_its_way(s, "Cordoned", *std::move(obstacle));
  if (s.agent_at_work())
    return on_its_way(
        s, "Cordoned",
        {reasons::kAgentPending, fmt::format("mig-manager is still applying {}", s.label())});
  if (s.target != nullptr && s.target->ok() && !config_is_rendered(s.snapshot, s.target->config)) {
    NodeStanding standing = on_its_way(s, "Cordoned", file_lacks(s.snapshot, s.target->config));
    standing.stuck = standing.cause.reason == reasons::kWriteRefused;
    return standing;
  }
  return on_its_way(s, "Cordoned",
                    {reasons::kSettling, "drained; pods that were just bound may still arrive"});
}

NodeStanding applying(const Situation& s) {
  using State = Verification::State;
  const NodeRollout& rollout = *s.record.rollout;
  Verification v = verify(s);
  auto& [reason, message] = v.cause;
  if (std::string late = late_pods(s); !late.empty()) {
    reason = reasons::kLateBinding;
    message = fmt::format("{}; bound late: {}", message, late);
  }
  const bool verifying =
      v.state == State::kMismatch || v.state == State::kSteadying || v.state == State::kDone;
  const bool stays = s.held() && rollout.berth_cordoned;
  if (v.state == State::kDone && stays) {
    reason = reasons::kHeld;
    message = fmt::format("verified; stays cordoned while annotation {} holds it",
                          names::kHoldAnnotation);
  }
  if (v.state == State::kAgentFailed)
    message = fmt::format("attempt {} of 3: {}", rollout.attempt + 1, message);
  if (const auto stopped = why_stopped(s.snapshot); stopped && v.state == State::kAgentFailed) {
    reason = stopped->reason;
    message = fmt::format("{}; it is tried again later: {}", message, stopped->message);
  }
  const char* phase = verifying ? "Verifying" : rollout.not_before ? "Retrying" : "Applying";
  if (rollout.phase == RolloutPhase::kRollingBack) {
    message = reason == reasons::kHeld
                  ? fmt::format("back at {}, {}", rollout.config, message)
                  : fmt::format("rolling back to {}: {}", rollout.config, rollout.why);
    phase = "RollingBack";
  }
  if (auto others = others_at_work(s)) return on_its_way(s, phase, *std::move(others));
  NodeStanding standing = on_its_way(s, phase, std::move(v.cause));
  // Any other end of the wait writes the node, and that makes the layout's key due again.
  if (v.state == State::kSteadying && stays) standing.due = v.due;
  return standing;
}

NodeStanding failed(const Situation& s, std::string message) {
  const NodeRollout& rollout = *s.record.rollout;
  return {.node = &s.node,
          .bucket = NodeBucket::kFailed,
          .phase = to_string(rollout.phase),
          .cause = {reasons::kNodeFailed, std::move(message)},
          .since = rollout.since};
}

// The next step on the node is a write, and the last write was refused.
NodeStanding unless_refused(const Situation& s, NodeStanding standing) {
  const std::optional<RefusedWrite> refused = s.refused();
  if (!refused) return standing;
  standing.cause = {reasons::kWriteRefused, refused->message};
  standing.stuck = true;
  return standing;
}

std::optional<NodeStanding> under_way(const Situation& s) {
  if (s.record.idle()) return std::nullopt;
  switch (s.record.rollout->phase) {
    case RolloutPhase::kIdle:
      return std::nullopt;
    case RolloutPhase::kCordoned:
      return unless_refused(s, cordoned(s));
    case RolloutPhase::kApplying:
    case RolloutPhase::kRollingBack:
      return unless_refused(s, applying(s));
    case RolloutPhase::kFailed:
      return failed(
          s,
          fmt::format("{}; edit the layout, or make mig-manager succeed: berth continues by itself",
                      s.record.rollout->why));
  }
  return std::nullopt;
}

// The first loss may be an accident. If it happens again, a user has to find the cause.
NodeStanding record_lost(const Situation& s) {
  const Slot& slot = *s.slot;
  const bool again = slot.lost > 1;
  NodeStanding standing{
      .node = &s.node,
      .bucket = again ? NodeBucket::kBlocked : NodeBucket::kInProgress,
      .phase = s.node.cordoned() ? "Cordoned" : "Waiting",
      .cause = {reasons::kRolloutForgotten,
                fmt::format("annotation {} was removed or overwritten; berth continues from its "
                            "ledger: its cordon is {}",
                            names::kRolloutAnnotation,
                            *slot.berth_cordoned ? "berth's" : "somebody else's")},
      .since = slot.since};
  if (again)
    standing.cause.message = fmt::format(
        "annotation {} was removed or overwritten {} times; berth, whose ledger has what matters, "
        "writes it again {}; find who does it: kubectl get node {} -o yaml --show-managed-fields",
        names::kRolloutAnnotation, slot.lost,
        slot.recall ? "after " + format_time(*slot.recall) : "soon", s.node.meta.name);
  return standing;
}

// The node is out of service since a change of its GPUs failed, and the GPUs are right now.
NodeStanding about_to_return(const Situation& s) {
  if (s.held())
    return waiting(
        s.node, {reasons::kHeld,
                 fmt::format("its GPUs are right, and it stays cordoned by berth while annotation "
                             "{} holds it",
                             names::kHoldAnnotation)});
  if (auto others = others_at_work(s)) return waiting(s.node, *std::move(others));
  NodeStanding standing = on_its_way(
      s, "Verifying",
      {reasons::kVerifying,
       "its GPUs are right; berth kept it cordoned after a failure and uncordons it soon"});
  standing.due = s.right_since() + s.snapshot.settings.verify_for;
  return standing;
}

// The node has a slot and no cordon yet.
NodeStanding claimed(const Situation& s) {
  NodeStanding standing =
      waiting(s.node, {reasons::kClaiming, "it has a slot and is cordoned next"});
  standing.bucket = NodeBucket::kInProgress;
  const NodeRollout* last = s.record.rollout ? &*s.record.rollout : nullptr;
  if (const auto refused = s.refused()) {
    standing.cause = {reasons::kWriteRefused, refused->message};
    // A claim of this leader is given back soon. For a claim of an earlier leader, berth can't know
    // which writes are on their way.
    standing.stuck = s.slot->epoch != s.snapshot.epoch;
  } else if (last != nullptr && last->cause == reasons::kWriteRefused) {
    standing.cause = {reasons::kWriteRefused, last->why};
    standing.stuck = true;
  }
  return standing;
}

// The ledger has a slot of another node with this name.
NodeStanding behind_the_ledger(const Situation& s) {
  NodeStanding standing = waiting(
      s.node, {reasons::kClaiming,
               "the ledger has the slot of another node of this name; berth is about to see "
               "whether that one is gone"});
  standing.bucket = NodeBucket::kInProgress;
  return standing;
}

// The rollout was given up, and its slot is not free yet.
NodeStanding restored(const Situation& s) {
  const bool given_up = s.record.rollout && !s.record.rollout->cause.empty();
  NodeStanding standing =
      waiting(s.node, {reasons::kBackingOff,
                       given_up ? "put back: " + s.record.rollout->why : std::string("put back")});
  standing.bucket = NodeBucket::kInProgress;
  standing.phase = "Restored";
  return standing;
}

// The cause of giving up decides whether the layout's owner or time has to resolve it.
NodeStanding backing_off(const Situation& s) {
  const NodeRollout& rollout = *s.record.rollout;
  const std::string again = fmt::format("tried again after {}", format_time(*rollout.not_before));
  const bool refused = rollout.cause == reasons::kWriteRefused;
  NodeStanding standing = waiting(
      s.node, {refused ? reasons::kWriteRefused : reasons::kBackingOff,
               refused ? fmt::format("{}; {}", rollout.why, again)
                       : fmt::format("its drain was given up {} time{}{}; {}", rollout.attempt,
                                     rollout.attempt == 1 ? "" : "s",
                                     rollout.why.empty() ? "" : ", " + rollout.why, again)});
  const bool for_time_to_tell = rollout.cause.empty() || rollout.cause == reasons::kPodsLeaving ||
                                only_pending(rollout.cause);
  standing.bucket = for_time_to_tell ? NodeBucket::kPending : NodeBucket::kBlocked;
  standing.due = rollout.not_before;
  return standing;
}

// Another user has overwritten berth's value of mig.config.
std::optional<NodeStanding> contested(const Situation& s) {
  if (!s.record.rollout || s.record.rollout->config != s.target->config) return std::nullopt;
  const bool only_the_label =
      s.state() == "success" && !s.view.resolver(*s.owner).mismatch(*s.target, s.node);
  const bool in_use = !drain_progress(s.snapshot, s.node, s.rules->drain, s.snapshot.now).empty;
  const bool again = s.record.rollout->reasserts < kMaxReasserts;
  if (only_the_label && !in_use && (again || seeded(SeededBug::kFightForLabel)))
    return std::nullopt;  // berth applies it again by the ordinary steps
  return waiting(
      s.node, {reasons::kContested,
               fmt::format("somebody set {}={} over berth's {}; set it back, or take the node out "
                           "of the layout",
                           names::kMigConfig, s.label(), s.target->config)});
}

}  // namespace

NodeStanding waiting(const Node& node, Cause cause) {
  const bool pending = only_pending(cause.reason);
  return {.node = &node,
          .bucket = pending ? NodeBucket::kPending : NodeBucket::kBlocked,
          .phase = "Waiting",
          .cause = std::move(cause)};
}

std::optional<NodeStanding> standing_of(const Situation& s) {
  if (s.record_is_lost()) return record_lost(s);
  if (auto standing = under_way(s)) return standing;
  if (s.record.unreadable())
    return waiting(
        s.node, {reasons::kContested,
                 fmt::format("berth can't read annotation {}; remove it, and berth starts afresh",
                             names::kRolloutAnnotation)});
  if (s.target == nullptr || !s.target->ok())
    return s.target == nullptr ? std::nullopt : std::optional(waiting(s.node, s.target->cause));
  const bool kept_out = s.record.kept_out() && s.node.cordoned();
  if (s.is_right() && kept_out) return about_to_return(s);
  if (s.is_right())
    return NodeStanding{.node = &s.node, .bucket = NodeBucket::kUpdated, .phase = "UpToDate"};
  if (s.record.rollout && s.record.rollout->failed_config == s.target->config)
    return failed(s, fmt::format("{}; edit the layout to try again{}", s.record.rollout->why,
                                 kept_out ? ": berth keeps it cordoned until then" : ""));
  if (names_config(s.label(), s.target->config)) {
    // berth does not drain the node again: the label is right, so mig-manager or the device plugin
    // has to be repaired.
    auto mismatch = s.view.resolver(*s.owner).mismatch(*s.target, s.node);
    if (s.state() != "success")
      return waiting(s.node,
                     {s.state() == "failed" ? reasons::kAgentFailed : reasons::kAgentPending,
                      fmt::format("{} is right, but mig-manager reports \"{}\"; see its log on the "
                                  "node",
                                  names::kMigConfig, s.state())});
    return waiting(s.node,
                   {reasons::kAllocatableMismatch,
                    fmt::format("mig-manager reports success, but {}; see the device plugin on the "
                                "node",
                                mismatch.value_or(""))});
  }
  if (s.slot_is_ours()) return s.slot->seq > s.record.seq() ? claimed(s) : restored(s);
  if (s.slot != nullptr && !s.slot_is_ours())
    return waiting(
        s.node, {reasons::kHeld, fmt::format("{} has the node; berth continues once that is done",
                                             s.slot->holder)});
  if (s.name_is_taken()) return behind_the_ledger(s);
  if (s.held())
    return waiting(
        s.node, {reasons::kHeld,
                 fmt::format("{} ({}={})", "held by a person; remove the annotation to release it",
                             names::kHoldAnnotation,
                             s.node.meta.annotations.get(names::kHoldAnnotation).view())});
  if (const auto health = health_of(s.node); health && health->phase == HealthPhase::kCordoned)
    return waiting(s.node, {reasons::kHeld,
                            fmt::format("out of service for its health: {}", health->findings)});
  if (auto obstacle = obstacle_on(s.snapshot, s.node)) return waiting(s.node, *std::move(obstacle));
  if (s.is_short())
    return waiting(
        s.node, {reasons::kAllocatableMismatch,
                 fmt::format("{} gives its GPUs what the layout asks for, but {}; see the device "
                             "plugin on the node",
                             s.label(),
                             s.view.resolver(*s.owner).mismatch(*s.target, s.node).value_or(""))});
  if (auto standing = contested(s)) return standing;
  if (s.record.rollout && s.record.rollout->not_before &&
      s.snapshot.now < *s.record.rollout->not_before)
    return backing_off(s);
  // The node's slot was given back for this, and berth could not even record that on the node.
  if (const auto refused = s.refused())
    return waiting(s.node, {reasons::kWriteRefused, refused->message});
  // If mig-manager does not finish, berth would drain the pods for nothing.
  if (s.agent_at_work())
    return waiting(s.node, {reasons::kAgentPending,
                            fmt::format("mig-manager is still applying {}; berth waits until that "
                                        "has ended; if it does not, see its log on the node",
                                        s.label())});
  return std::nullopt;
}

}  // namespace berth
