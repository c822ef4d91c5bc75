// SPDX-License-Identifier: Apache-2.0
// Nodes whose record was lost, and nodes that stay out of service although no rollout is in
// progress. Whether berth made the cordon decides who removes it.
#include <fmt/format.h>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"
#include "controller/mig/node_patch.h"
#include "controller/mig/node_steps.h"

namespace berth {

// A machine that was created from an image of a live node has that node's annotations. Nothing in
// them is true here, except for a node of the same name that returns with berth's cordon.
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

// The node was deleted and created again with its annotations and its cordon, for example from a
// backup. The cordon is still berth's, and berth returns the node as usual. The ledger follows the
// record.
void NodeSteps::go_on_from(const NodeRollout& predecessor) {
  NodeRollout record = predecessor;
  record.since = s_.snapshot.now;
  NodePatch(s_).same_cordon().rollout(record).plan(
      plan_, "the node was deleted and created again with its cordon by berth: continue");
  tell(false, reasons::kRolloutForgotten, "Restore",
       "the node was deleted and created again with its annotations, and its cordon is berth's; "
       "berth continues from the annotation");
}

// A user overwrote the annotation of a node that holds a slot before the ledger recorded its
// cordon. So berth can't know whose the cordon is, and leaves it.
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

// The record is lost, and the ledger knows that the node was taken and whose its cordon is. berth
// continues from there. If the node is back in service, berth gives it up: it does not cordon a
// node twice.
void NodeSteps::recall() {
  const Slot& slot = *s_.slot;
  if (!slot.recall || wait_until(*slot.recall)) return;  // reconcile_slots sets the time
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

// The label shows the phase. If it names a config of the layout, it was written, and berth verifies
// it before the node returns.
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

// berth has just written the record, and it was removed again before the ledger could count that.
// berth waits, because it does not fight with another writer.
bool NodeSteps::has_just_recalled() const { return has_written_since(*s_.slot->recall); }

// The cordon succeeded, and its record was lost at once. If the ledger said whose the cordon is,
// recall() would continue from there. The ledger may have it while the change is still on its way,
// so berth must not guess before.
bool NodeSteps::ledger_may_know() const {
  return s_.node.cordoned() && has_written_since(s_.slot->since);
}

bool NodeSteps::has_written_since(Time time) const {
  const Answer* answer = s_.snapshot.answers.find(question(any_patch()), s_.snapshot.now,
                                                  s_.snapshot.settings.answer_ttl);
  return answer != nullptr && answer->yes && answer->at >= time;
}

// The node is out of service after a failure under a layout that is gone or released it. It returns
// once another layout finds its GPUs right. If a user uncordons it before, a later cordon is that
// user's.
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
