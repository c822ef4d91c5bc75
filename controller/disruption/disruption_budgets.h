// SPDX-License-Identifier: Apache-2.0
// DisruptionBudgets: what the policy allows for every action that takes a node or its GPUs out of
// service: only inside its windows, and only so many nodes of a pool at once, for whatever reason
// the other nodes are unavailable. The limits apply until a policy that is being deleted is gone.
// Without a policy everything is allowed. While berth is stopped (core/stop.h), nothing is allowed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"
#include "controller/disruption/health_claims.h"
#include "controller/disruption/slots.h"
#include "controller/fleet/pools.h"

namespace berth {

class DisruptionBudgets {
 public:
  // `ledger` must outlive the object.
  DisruptionBudgets(const Snapshot& snapshot, const SlotLedger& ledger);

  // Returns why no node may be taken at all: berth is stopped, it is outside the windows, or in a
  // blackout.
  const std::optional<Cause>& closed() const { return stopped_ ? stopped_ : closed_; }
  // Returns only the emergency stop. It also stops actions that need no window.
  const std::optional<Cause>& stopped() const { return stopped_; }
  // Returns when closed() changes without any other change.
  std::optional<Time> changes_at() const;

  // Returns why this node may not be taken: its pool's budget is used up. A node that is
  // unavailable already uses no budget.
  std::optional<Cause> refuse(const Node& node);
  // Counts the node as unavailable from now on.
  void take(const Node& node);

 private:
  struct Room {
    std::int64_t budget = 0;
    std::int64_t nodes = 0;
    std::int64_t out = 0;
  };
  void distrust(Duration skew);
  bool is_out(const Node& node) const;
  void count();
  // Returns the node's pool, or the pool that no longer selects it and whose keys it still carries;
  // empty: none.
  std::string_view pool_name_of(const Node& node) const;
  Room* room_of(const Node& node);

  const Snapshot& snapshot_;
  const SlotLedger& ledger_;
  HealthClaims claims_;
  const GPUClusterPolicy* policy_;
  DisruptionStatus calendar_;
  std::optional<Cause> closed_;
  std::optional<Cause> stopped_;
  bool counted_ = false;  // counted with a pass over all nodes, only when a node would be taken
  std::map<std::string, Room, std::less<>> rooms_;  // by pool
};

}  // namespace berth
