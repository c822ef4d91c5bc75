// SPDX-License-Identifier: Apache-2.0
// The ledger follows the nodes' annotations. An entry is freed if its node is back or gone. A
// missing entry of a node in progress is restored, and so is a missing ledger. The ledger also
// records whose the cordon is, and when a lost annotation may be written again.
//
// The leader that claimed a slot may have seen more than this process. A record with the slot's seq
// shows that the node is back, because no older change has this seq. Only the API server can say
// that a node is gone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apis/base/names.h"
#include "controller/core/refused_write.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/rollouts.h"
#include "controller/disruption/slots.h"
#include "controller/mig/reconcile.h"

namespace berth {
namespace {

// Returns when to give up a claim on a node that can't be written, not even to record that. Only
// this leader sends the claim's cordon. A write that was sent before the first refusal and not
// answered has taken effect by then, or never does.
std::optional<Time> given_up_at(const Snapshot& snapshot, const Node& node, const Slot& slot) {
  if (seeded(SeededBug::kKeepRefusedClaim)) return std::nullopt;
  if (slot.epoch != snapshot.epoch || slot.seq <= read_rollout(snapshot.cluster, node).seq())
    return std::nullopt;
  const auto refused = refused_write(snapshot, ref_of(node), names::kManagerMig);
  if (!refused || refused->at < slot.since) return std::nullopt;
  return std::max(refused->since, slot.since) + kRequestTimeout;
}

// The cache has no node with the slot's uid: the node is gone, or it is new and the cache is
// behind.
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

// A deleted uid never returns, so a yes stays true.
bool is_gone(const Snapshot& snapshot, const Guard& look) {
  if (snapshot.offline) return true;
  const Answer* answer =
      snapshot.answers.find(question(look), snapshot.now, snapshot.settings.answer_ttl);
  return answer != nullptr && answer->yes;
}

// Returns why a layout's entry is done; nothing otherwise. A slot with a higher seq than an Idle
// annotation is a claim whose cordon may be on its way. reconcile_node_rollout cordons the node, or
// raises the seq first.
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

// The first time berth writes the record again at once. After that it waits longer each time, so as
// not to fight with another writer.
Duration recall_after(const Settings& settings, std::int64_t lost) {
  if (lost <= 1) return Duration::zero();
  return settings.retry_backoff * (std::int64_t{1} << std::min<std::int64_t>(lost - 2, 4));
}

// Returns the slot with what it has to record about the node; the slot unchanged if nothing is new.
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
  // Offline, `berth plan` starts without a ledger: the first claim creates it.
  const bool missing = ledger.config_map == nullptr && !snapshot.offline;
  if (changes.empty() && !missing) return plan;
  plan.add(ledger_ref(snapshot.settings, ledger.config_map),
           write_slots(snapshot, ledger, changes,
                       notes.empty() ? "start the ledger of unavailable nodes"
                                     : fmt::format("slots: {}", fmt::join(notes, ", "))));
  return plan;
}

}  // namespace berth
