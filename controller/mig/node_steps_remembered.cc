// SPDX-License-Identifier: Apache-2.0
// What berth remembers of a node where its record was lost, and of one that stays out although
// nothing is going on: whose the cordon is decides who takes it away.
#include <fmt/format.h>

#include "apis/names.h"
#include "apis/reasons.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"
#include "controller/mig/node_patch.h"
#include "controller/mig/node_steps.h"

namespace berth {

// A machine made from the picture of a live node comes with that one's annotations. Nothing in them
// is true here, except on a node of the same name that comes back with berth's cordon.
void NodeSteps::drop_foreign() {
  const std::optional<NodeRollout>& predecessor = s_.record.predecessor;
  if (predecessor && predecessor->berth_cordoned && s_.node.cordoned())
    return go_on_from(*predecessor);
  NodePatch(s_).forget_rollout().plan(
      plan_,
      fmt::format("annotation {} belongs to another node: remove it", names::kRolloutAnnotation));
  tell(true, reasons::kRolloutForgotten, "Restore",
       fmt::format("annotation {} was written for another node, and is removed: do not copy it "
                   "into what new nodes are made from",
                   names::kRolloutAnnotation));
}

// The node was deleted and created again with its annotations and its cordon, as from a backup. The
// cordon is berth's as it was, and so is the node's way back. The ledger follows the record.
void NodeSteps::go_on_from(const NodeRollout& predecessor) {
  NodeRollout record = predecessor;
  record.since = s_.snapshot.now;
  NodePatch(s_).same_cordon().rollout(record).plan(
      plan_, "the node was deleted and created again with its cordon by berth: continue");
  tell(false, reasons::kRolloutForgotten, "Restore",
       "the node was deleted and created again with its annotations, and its cordon is berth's; "
       "berth continues from the annotation");
}

// Somebody wrote something else into the annotation of a node that holds a slot, before the ledger
// had heard of its cordon. Whose that is, is lost with it, so it stays as it is.
void NodeSteps::overwrite_unreadable() {
  if (ledger_may_know()) return plan_.requeue_in(s_.snapshot.settings.answer_ttl);
  NodeRollout idle;
  idle.seq = s_.slot->seq;
  idle.epoch = s_.slot->epoch;
  idle.since = s_.snapshot.now;
  NodePatch(s_).rollout(idle).plan(
      plan_,
      fmt::format("replace annotation {}, which berth can't read", names::kRolloutAnnotation));
  tell(true, reasons::kRolloutForgotten, "Restore",
       fmt::format("annotation {} was overwritten by somebody; if berth had cordoned the node, "
                   "uncordon it",
                   names::kRolloutAnnotation));
}

// The record is gone, and the ledger knows that the node was taken and whose its cordon is. From
// there berth goes on. One that is back in service is given up: berth cordons nothing twice.
void NodeSteps::recall() {
  const Slot& slot = *s_.slot;
  if (!slot.recall || wait_until(*slot.recall)) return;  // reconcile_slots says when
  if (has_just_recalled()) return plan_.requeue_in(s_.snapshot.settings.answer_ttl);
  const NodeRollout record = recalled();
  NodePatch(s_).same_cordon().rollout(record).plan(
      plan_, fmt::format("write annotation {} again, which is gone", names::kRolloutAnnotation));
  tell(true, reasons::kRolloutForgotten, "Restore",
       fmt::format("annotation {} was removed or overwritten by somebody, {} so far; {}",
                   names::kRolloutAnnotation,
                   slot.lost == 1 ? "once" : fmt::format("{} times", slot.lost),
                   record.phase == RolloutPhase::kIdle ? "the node is back in service and released"
                                                       : "berth continues from its ledger"));
}

// Which phase it was in is told by the label: one that names a config of the layout's was written,
// and is verified before the node returns.
NodeRollout NodeSteps::recalled() const {
  const Slot& slot = *s_.slot;
  NodeRollout record;
  record.seq = slot.seq;
  record.epoch = slot.epoch;
  record.layout = slot.layout().value_or("");
  if (const MIGLayout* holder = s_.snapshot.cluster.mig_layouts().find(record.layout))
    record.layout_uid = holder->meta.uid;
  record.since = s_.snapshot.now;
  record.taken = slot.since;
  if (!s_.node.cordoned()) return record;
  record.berth_cordoned = *slot.berth_cordoned;
  const std::string standing = base_config(s_.label());
  const bool is_target = s_.owner != nullptr && s_.target->ok() && s_.target->config == standing;
  if (is_target || standing.starts_with(fmt::format("berth-{}-", record.layout))) {
    record.phase = RolloutPhase::kApplying;
    record.config = standing;
  } else {
    record.phase = RolloutPhase::kCordoned;
    record.config = s_.owner != nullptr && s_.target->ok() ? s_.target->config : standing;
    record.previous = standing;
  }
  return record;
}

// Written a moment ago, and gone before the ledger could count it. Nobody is fought.
bool NodeSteps::has_just_recalled() const { return has_written_since(*s_.slot->recall); }

// The cordon went through, and its record is gone at once: had the ledger said whose the cordon is,
// recall() would go on from there. It may have heard of it all the same, and the news be on its
// way: that must not be guessed before.
bool NodeSteps::ledger_may_know() const {
  return s_.node.cordoned() && has_written_since(s_.slot->since);
}

bool NodeSteps::has_written_since(Time time) const {
  const Answer* answer = s_.snapshot.answers.find(question(any_patch()), s_.snapshot.now,
                                                  s_.snapshot.settings.answer_ttl);
  return answer != nullptr && answer->yes && answer->at >= time;
}

// Out for a failure of a layout that is gone or has let it go. It returns once another layout finds
// its GPUs right; and whoever uncordons it before owns what is cordoned there later.
void NodeSteps::leave_kept_out() {
  NodeRollout idle = now();
  idle.berth_cordoned = false;
  if (!s_.node.cordoned()) {
    NodePatch(s_).same_cordon().rollout(idle).plan(
        plan_, "the node was uncordoned by hand: its cordon is no longer berth's");
    return;
  }
  if (s_.held() || in_others_hands(s_.node) || !s_.is_right()) return;
  if (wait_until(s_.right_since() + s_.snapshot.settings.verify_for)) return;
  if (names_config(s_.label(), idle.failed_config) || idle.failed_config == s_.target->config)
    idle.failed_config.clear();
  NodePatch(s_).same_config().uncordon().rollout(idle).plan(
      plan_, fmt::format("{} is verified: uncordon", s_.target->config));
  tell(false, reasons::kReturned, "Uncordon",
       fmt::format(
           "{} is in force; the node was unavailable because a change of its GPUs had failed: {}",
           s_.target->config, now().why));
}

}  // namespace berth
