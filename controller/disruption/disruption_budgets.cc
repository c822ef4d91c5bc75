// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/disruption_budgets.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/stop.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/rollouts.h"
#include "controller/fleet/disruption_calendar.h"
#include "controller/fleet/node_facts.h"

namespace berth {
namespace {

Cause why_closed(const DisruptionStatus& calendar) {
  if (calendar.next_opening)
    return {
        reasons::kDisruptionWindow,
        fmt::format("GPUClusterPolicy allows no disruption before {}, when the next window opens",
                    format_time(*calendar.next_opening))};
  return {reasons::kDisruptionWindow,
          "GPUClusterPolicy allows no disruption, and no window opens again; edit "
          "spec.disruption.windows or blackouts"};
}

}  // namespace

DisruptionBudgets::DisruptionBudgets(const Snapshot& snapshot, const SlotLedger& ledger)
    : snapshot_(snapshot),
      ledger_(ledger),
      claims_(ledger, snapshot.now),
      policy_(standing_policy(snapshot.cluster)),
      stopped_(why_stopped(snapshot)) {
  if (policy_ == nullptr) return;
  calendar_ = DisruptionCalendar(policy_->spec.disruption, snapshot.zones).at(snapshot.now);
  if (!calendar_.open) closed_ = why_closed(calendar_);
  if (!snapshot.attention.clock_is_right()) distrust(*snapshot.attention.clock_skew);
}

// While the clock is wrong, no window opens and no blackout ends. berth checks again a little
// later.
void DisruptionBudgets::distrust(Duration skew) {
  const DisruptionSpec& spec = policy_->spec.disruption;
  if (spec.windows.empty() && spec.blackouts.empty()) return;
  calendar_ = {.open = false, .next_opening = snapshot_.now + kMaxClockSkew, .closes = {}};
  closed_ = Cause{reasons::kDisruptionWindow,
                  "nobody knows whether a window is open: " + describe_skew(skew)};
}

std::optional<Time> DisruptionBudgets::changes_at() const {
  return calendar_.open ? calendar_.closes : calendar_.next_opening;
}

bool DisruptionBudgets::is_out(const Node& node) const {
  return !in_service(node) || ledger_.find(node.meta.name) != nullptr ||
         claims_.contains(node.meta.name) || nodes_under_way(snapshot_.cluster).contains(&node);
}

void DisruptionBudgets::count() {
  counted_ = true;
  for (const auto& node : snapshot_.cluster.nodes()) {
    if (!may_join_pools(*node)) continue;
    const std::string_view pool = pool_name_of(*node);
    if (pool.empty()) continue;
    Room& room = rooms_[std::string(pool)];
    ++room.nodes;
    room.out += is_out(*node) ? 1 : 0;
  }
  // For a node with a slot that the cache does not know, the pool is unknown. So it counts in every
  // pool.
  const auto unseen = std::ranges::count_if(ledger_.slots, [&](const auto& entry) {
    return snapshot_.cluster.nodes().find(entry.first) == nullptr;
  });
  for (auto& [pool, room] : rooms_) {
    room.out += unseen;
    room.budget = policy_->spec.disruption.max_unavailable.of(room.nodes);
  }
}

std::string_view DisruptionBudgets::pool_name_of(const Node& node) const {
  if (const PoolSpec* pool = pool_of(*policy_, node)) return pool->name;
  return node.meta.annotations.contains(names::kPoolKeysAnnotation)
             ? label_of(node, names::kPoolLabel)
             : std::string_view();
}

DisruptionBudgets::Room* DisruptionBudgets::room_of(const Node& node) {
  if (policy_ == nullptr) return nullptr;
  const std::string_view pool = pool_name_of(node);
  if (pool.empty()) return nullptr;
  if (!counted_) count();
  return &rooms_[std::string(pool)];
}

std::optional<Cause> DisruptionBudgets::refuse(const Node& node) {
  if (is_out(node)) return std::nullopt;
  const Room* room = room_of(node);
  if (room == nullptr || room->out < room->budget) return std::nullopt;
  return Cause{
      reasons::kPoolMaxUnavailable,
      fmt::format(
          "GPUClusterPolicy allows {} of the {} nodes of pool {} to be unavailable, and {} are",
          room->budget, room->nodes, pool_name_of(node), room->out)};
}

void DisruptionBudgets::take(const Node& node) {
  if (is_out(node)) return;
  if (Room* room = room_of(node)) ++room->out;
}

}  // namespace berth
