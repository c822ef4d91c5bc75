// SPDX-License-Identifier: Apache-2.0
// A layout as a whole: its finalizer, the choice and claim of the next nodes, the questions to the
// API server before that, and its status. reconcile_node_rollout does what happens on a node after
// its slot is claimed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/finalizer.h"
#include "controller/core/refused_write.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/rollouts.h"
#include "controller/disruption/slots.h"
#include "controller/mig/layout_status.h"
#include "controller/mig/reconcile.h"
#include "controller/mig/rollout_choice.h"
#include "controller/mig/target.h"

namespace berth {
namespace {

// berth reads the ledger of this leader again after this time, if no watch delivers it.
constexpr Duration kSlotsCome = std::chrono::seconds(1);

// Whether this layout has taken nodes that are not back yet. Before it may go, each of them must be
// back or released.
bool has_nodes_under_way(const Snapshot& snapshot, const MIGLayout& layout) {
  for (const auto& [node, slot] : read_ledger(snapshot).slots)
    if (slot.layout() == layout.meta.name) return true;
  return std::ranges::any_of(nodes_under_way(snapshot.cluster), [&](const Node* node) {
    const RolloutRecord record = read_rollout(snapshot.cluster, *node);
    return !record.idle() && record.rollout->layout_uid == layout.meta.uid;
  });
}

// Whether the layout may go. With DisableMIG, MIG has to be off first, except where that has failed
// for good.
bool may_go(const Snapshot& snapshot, const MIGLayout& layout, const RolloutChoice& choice) {
  if (has_nodes_under_way(snapshot, layout) && !seeded(SeededBug::kDropFinalizer)) return false;
  return !disables_mig(layout) || std::ranges::all_of(choice.nodes, [](const NodeStanding& node) {
    return node.bucket == NodeBucket::kUpdated || node.bucket == NodeBucket::kFailed ||
           node.config.empty();
  });
}

// Each new leader writes its epoch into the ledger. Once the cache shows this epoch, it knows every
// slot of earlier leaders. A ledger without an epoch was edited by a user.
bool knows_slots(const Snapshot& snapshot) {
  const SlotLedger& ledger = read_ledger(snapshot);
  if (snapshot.offline) return true;
  return ledger.config_map != nullptr && (ledger.epoch == 0 || ledger.epoch >= snapshot.epoch);
}

void put_nodes(ClusterState& cluster, const std::vector<Node>& nodes, Time now) {
  std::set<std::string> there, gone;
  for (const Node& node : nodes) {
    there.insert(node.meta.name);
    cluster.upsert(node, now);
  }
  for (const auto& node : cluster.nodes())
    if (!there.contains(node->meta.name)) gone.insert(node->meta.name);
  for (const std::string& name : gone) cluster.erase<Node>("", name);
}

// The cache may be behind, and once the layout is gone no reconciler returns its nodes. The copy
// shares the objects, and this question is asked once in the life of a layout.
Guard look_at_nodes(const Snapshot& snapshot, const MIGLayout& layout) {
  Guard look;
  look.node = ref_of(layout);
  look.question = "is every node back?";
  look.refuse_any =
      [cluster = std::make_shared<ClusterState>(snapshot.cluster), settings = snapshot.settings,
       now = snapshot.now, epoch = snapshot.epoch, &zones = snapshot.zones,
       name = layout.meta.name](const std::vector<Node>& nodes) -> std::optional<std::string> {
    put_nodes(*cluster, nodes, now);
    const Answers none;
    const Snapshot live{.cluster = *cluster,
                        .answers = none,
                        .settings = settings,
                        .now = now,
                        .epoch = epoch,
                        .zones = zones};
    const MIGLayout& going = *cluster->mig_layouts().find(name);
    if (may_go(live, going, decide_rollout(live, going))) return std::nullopt;
    return "a node is not back, and the cache is behind";
  };
  return look;
}

// Claims all nodes in one write, so that either all slots are ours or none.
void plan_claims(const Snapshot& snapshot, const MIGLayout& layout, const RolloutChoice& choice,
                 Plan& plan) {
  if (choice.take.empty()) return;
  const SlotLedger& ledger = read_ledger(snapshot);
  SlotChanges changes;
  std::vector<std::string> reasons;
  for (const NodeClaim& claim : choice.take) {
    changes[claim.node->meta.name] = Slot{claim.node->meta.uid, layout_holder(layout.meta.name),
                                          claim.seq, snapshot.epoch, snapshot.now};
    reasons.push_back(fmt::format("{} ({})", claim.node->meta.name, claim.why));
  }
  plan.add(ledger_ref(snapshot.settings, ledger.config_map),
           write_slots(snapshot, ledger, changes,
                       fmt::format("claim for MIGLayout {}: {}", layout.meta.name,
                                   fmt::join(reasons, ", "))));
}

// Requeues for the times at which the decision changes although no object changes.
void plan_wake_ups(const Snapshot& snapshot, const MIGLayout& layout, const RolloutChoice& choice,
                   Plan& plan) {
  if (choice.calendar_changes_at && snapshot.now < *choice.calendar_changes_at)
    plan.requeue_in(std::chrono::ceil<Duration>(*choice.calendar_changes_at - snapshot.now));
  for (const NodeStanding& standing : choice.nodes) {
    if (standing.bucket == NodeBucket::kUpdated) continue;
    if (standing.due && snapshot.now < *standing.due)
      plan.requeue_in(std::chrono::ceil<Duration>(*standing.due - snapshot.now));
    // A refusal is valid only for a while, so the node is asked about again.
    const bool refused = standing.cause.reason == reasons::kPodDisruptionBudget ||
                         standing.cause.reason == reasons::kEvictionForbidden;
    if (refused && !snapshot.offline) plan.requeue_in(snapshot.settings.answer_ttl / 2);
    // Check again once the refusal no longer counts.
    if (standing.cause.reason == reasons::kWriteRefused && !snapshot.offline)
      plan.requeue_in(snapshot.settings.answer_ttl);
    // At that time it is reported as stalled.
    const Time lost = snapshot.cluster.allocatable_since(standing.node->meta.name) +
                      layout.spec.rollout.progress_deadline;
    if (standing.cause.reason == reasons::kAllocatableMismatch && snapshot.now < lost)
      plan.requeue_in(std::chrono::ceil<Duration>(lost - snapshot.now));
  }
}

}  // namespace

Plan reconcile_mig_layout(const Snapshot& snapshot, std::string_view name) {
  Plan plan;
  const MIGLayout* layout = snapshot.cluster.mig_layouts().find(name);
  if (layout == nullptr) return plan;
  const RolloutChoice choice = decide_rollout(snapshot, *layout);

  if (layout->meta.deletion_timestamp && has_finalizer(layout->meta) &&
      may_go(snapshot, *layout, choice)) {
    if (!knows_slots(snapshot)) {
      plan.requeue_in(kSlotsCome);
      return plan;
    }
    if (!snapshot.offline) plan.add(ref_of(*layout), look_at_nodes(snapshot, *layout));
    plan.add(ref_of(*layout),
             write_finalizer(ref_of(*layout), layout->meta, false, names::kManagerMig,
                             "every node is back in service: remove the finalizer"));
    plan.events.push_back({ref_of(*layout), false, reasons::kDeleted, "Rollout",
                           "no node is in progress for it any more"});
    return plan;
  }
  // The finalizer comes before any node is taken: a layout that is deleted in mid-rollout would
  // leave nodes behind.
  if (!layout->meta.deletion_timestamp && !has_finalizer(layout->meta))
    plan.add(ref_of(*layout),
             write_finalizer(ref_of(*layout), layout->meta, true, names::kManagerMig,
                             "return its nodes before it is deleted"));
  else
    plan_claims(snapshot, *layout, choice, plan);
  // Several nodes may ask about the same Job.
  for (const Ask& ask : choice.asks)
    if (!plan.has_steps(ask.pod)) plan.add(ask.pod, ask);
  for (const Guard& look : choice.looks)
    if (!plan.has_steps(look.node)) plan.add(look.node, look);
  plan_wake_ups(snapshot, *layout, choice, plan);
  plan.statuses.push_back(compute_layout_status(snapshot, *layout, choice));
  return plan;
}

}  // namespace berth
