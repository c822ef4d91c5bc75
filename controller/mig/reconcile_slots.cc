// SPDX-License-Identifier: Apache-2.0
// The ledger follows the nodes' annotations: an entry whose node is back or gone is freed, one that
// is missing for a node on its way is put back, and so is the whole ledger. It remembers whose the
// cordon is, and when an annotation that is gone may be written anew.
//
// Who claimed a slot may have heard more than this process has. That its node is back is told by a
// record with the slot's seq, which no older news has; that it is gone is told by the API server.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apis/names.h"
#include "controller/core/refused_write.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/rollouts.h"
#include "controller/disruption/slots.h"
#include "controller/mig/reconcile.h"

namespace berth {
namespace {

// When a claim may be given up whose node can't be written at all, not even to say so. Its cordon
// is this leader's to send alone; what was sent before the first refusal and not answered has taken
// effect by then or never does.
std::optional<Time> given_up_at(const Snapshot& snapshot, const Node& node, const Slot& slot) {
  if (seeded(SeededBug::kKeepRefusedClaim)) return std::nullopt;
  if (slot.epoch != snapshot.epoch || slot.seq <= read_rollout(snapshot.cluster, node).seq())
    return std::nullopt;
  const auto refused = refused_write(snapshot, ref_of(node), names::kManagerMig);
  if (!refused || refused->at < slot.since) return std::nullopt;
  return std::max(refused->since, slot.since) + kRequestTimeout;
}

// Where the cache has no node of the slot's uid. Either that one is gone, or it has come and the
// news of it have not.
Guard look_for_node(const std::string& name, const Slot& slot) {
  return {.node = {"Node", {}, name, slot.node_uid},
          .question = "is the node that has the slot gone?",
          .refuse = [uid = slot.node_uid](const Node& live,
                                          const std::vector<Pod>&) -> std::optional<std::string> {
            if (live.meta.uid != uid) return std::nullopt;
            return "the node is there, and the cache is behind";
          },
          .yes_if_gone = true};
}

// A uid that is gone never comes back, so a yes holds for good.
bool is_gone(const Snapshot& snapshot, const Guard& look) {
  if (snapshot.offline) return true;
  const Answer* answer =
      snapshot.answers.find(question(look), snapshot.now, snapshot.settings.answer_ttl);
  return answer != nullptr && answer->yes;
}

// Why the entry of a layout is done with, or nothing. A slot above an Idle annotation's seq is a
// claim whose cordon may be in flight: reconcile_node_rollout cordons, or raises the seq first.
std::optional<std::string> reason_to_free(const Snapshot& snapshot, const Node& node,
                                          const Slot& slot) {
  const RolloutRecord record = read_rollout(snapshot.cluster, node);
  if (record.rollout && record.idle() && record.seq() >= slot.seq &&
      !seeded(SeededBug::kForgetSlot))
    return "back";
  if (const auto at = given_up_at(snapshot, node, slot); at && record.idle() && *at <= snapshot.now)
    return "can't be written";
  return std::nullopt;
}

// The first time at once. Who takes it away again is given time: nobody fights over a node.
Duration recall_after(const Settings& settings, std::int64_t lost) {
  if (lost <= 1) return Duration::zero();
  return settings.retry_backoff * (std::int64_t{1} << std::min<std::int64_t>(lost - 2, 4));
}

// What the slot is to remember of the node's record; nothing new: the slot as it is.
Slot remember(const Snapshot& snapshot, const Node& node, const Slot& slot) {
  Slot next = slot;
  const RolloutRecord record = read_rollout(snapshot.cluster, node);
  if (!record.idle() && record.seq() >= slot.seq) {
    next.berth_cordoned = record.rollout->berth_cordoned;
    next.recall.reset();
  } else if (is_record_lost(slot, record) && !slot.recall) {
    ++next.lost;
    next.recall = snapshot.now + recall_after(snapshot.settings, next.lost);
  }
  return next;
}

std::string_view told(const Slot& slot) {
  if (slot.recall) return "its record is gone";
  return *slot.berth_cordoned ? "cordoned by berth" : "cordoned before";
}

std::optional<Slot> slot_for(const Snapshot& snapshot, const Node& node) {
  const RolloutRecord record = read_rollout(snapshot.cluster, node);
  if (record.idle() || !record.rollout) return std::nullopt;
  const NodeRollout& rollout = *record.rollout;
  Slot slot{node.meta.uid, layout_holder(rollout.layout), rollout.seq, rollout.epoch,
            rollout.taken.value_or(rollout.since)};
  slot.berth_cordoned = rollout.berth_cordoned;
  return slot;
}

}  // namespace

Plan reconcile_slots(const Snapshot& snapshot) {
  Plan plan;
  const SlotLedger& ledger = read_ledger(snapshot);
  SlotChanges changes;
  std::vector<std::string> notes;
  auto change = [&](const std::string& node, std::optional<Slot> slot, std::string_view why) {
    changes[node] = std::move(slot);
    notes.push_back(fmt::format("{} ({})", node, why));
  };
  for (const auto& [name, slot] : ledger.slots) {
    const Node* node = snapshot.cluster.nodes().find(name);
    if (node == nullptr || node->meta.uid != slot.node_uid) {
      const Guard look = look_for_node(name, slot);
      if (is_gone(snapshot, look)) {
        change(name, std::nullopt, node == nullptr ? "gone" : "another node now");
      } else {
        plan.add(look.node, look);
        plan.requeue_in(snapshot.settings.answer_ttl / 2);
      }
      continue;
    }
    if (!slot.layout()) continue;
    if (auto why = reason_to_free(snapshot, *node, slot)) {
      change(name, std::nullopt, *why);
      continue;
    }
    if (Slot next = remember(snapshot, *node, slot); next != slot) change(name, next, told(next));
    if (const auto at = given_up_at(snapshot, *node, slot); at && snapshot.now < *at)
      plan.requeue_in(std::chrono::ceil<Duration>(*at - snapshot.now));
  }
  for (const std::string& node : ledger.unreadable) change(node, std::nullopt, "unreadable");
  for (const Node* node : nodes_under_way(snapshot.cluster)) {
    const auto changed = changes.find(node->meta.name);
    const bool freed = changed != changes.end() && !changed->second;
    if (ledger.find(node->meta.name) != nullptr && !freed) continue;
    if (auto slot = slot_for(snapshot, *node))
      change(node->meta.name, std::move(slot), "on its way");
  }
  // Offline, `berth plan` starts from nothing: the first claim creates the ledger.
  const bool missing = ledger.config_map == nullptr && !snapshot.offline;
  if (changes.empty() && !missing) return plan;
  plan.add(ledger_ref(snapshot.settings, ledger.config_map),
           write_slots(snapshot, ledger, changes,
                       notes.empty() ? "start the ledger of unavailable nodes"
                                     : fmt::format("slots: {}", fmt::join(notes, ", "))));
  return plan;
}

}  // namespace berth
