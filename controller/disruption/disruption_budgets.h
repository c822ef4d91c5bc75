// SPDX-License-Identifier: Apache-2.0
// DisruptionBudgets: what the policy allows of every action that takes a node, or its GPUs, away:
// only inside its windows, and only so many nodes of a pool at once, whatever the reason for which
// the others are out. They hold until a policy that is being deleted is gone. Without a policy
// everything is allowed. While berth is stopped (core/stop.h), nothing is.
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
  // The ledger outlives it.
  DisruptionBudgets(const Snapshot& snapshot, const SlotLedger& ledger);

  // Why no node may be taken at all: berth is stopped, outside the windows, or in a blackout.
  const std::optional<Cause>& closed() const { return stopped_ ? stopped_ : closed_; }
  // The emergency stop alone. It also stops what needs no window.
  const std::optional<Cause>& stopped() const { return stopped_; }
  // When that changes, without anything else changing.
  std::optional<Time> changes_at() const;

  // Why this node may not be taken: its pool has no room. One that is out already costs nothing.
  std::optional<Cause> refuse(const Node& node);
  // From now on the node counts as out.
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
  // The pool of the node, also one that does not select it any more and whose keys it still
  // carries; empty: none.
  std::string_view pool_name_of(const Node& node) const;
  Room* room_of(const Node& node);

  const Snapshot& snapshot_;
  const SlotLedger& ledger_;
  HealthClaims claims_;
  const GPUClusterPolicy* policy_;
  DisruptionStatus calendar_;
  std::optional<Cause> closed_;
  std::optional<Cause> stopped_;
  bool counted_ = false;  // a walk over the fleet, only where a node would be taken
  std::map<std::string, Room, std::less<>> rooms_;  // by pool
};

}  // namespace berth
