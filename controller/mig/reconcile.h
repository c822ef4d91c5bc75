// SPDX-License-Identifier: Apache-2.0
// The MIG reconcilers: pure functions from a snapshot to a plan. A plan that has been applied and
// is planned again is empty.
#pragma once

#include <string>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// The keys, as controller/reconcilers/key_families.cc hands them out: with a name behind a prefix
// that ends in a slash.
inline constexpr std::string_view kLayoutKeys = "layout/";
inline constexpr std::string_view kNodeKeys = "node/";
inline constexpr std::string_view kSlotsKey = "slots";
inline constexpr std::string_view kAgentConfigKey = "agent-config";
inline std::string layout_key(std::string_view name) {
  return std::string(kLayoutKeys).append(name);
}
inline std::string node_key(std::string_view name) { return std::string(kNodeKeys).append(name); }

// "layout/NAME": chooses the next nodes, claims their slots, keeps the finalizer, writes the
// status.
Plan reconcile_mig_layout(const Snapshot& snapshot, std::string_view layout);

// "node/NAME": the next step of one node that holds a slot or is on its way.
Plan reconcile_node_rollout(const Snapshot& snapshot, std::string_view node);

// "slots": frees the slots of nodes that are back or gone, and restores a ledger that was deleted.
Plan reconcile_slots(const Snapshot& snapshot);

// "agent-config": renders every layout into the one file that NVIDIA's mig-manager reads.
Plan reconcile_agent_config(const Snapshot& snapshot);

}  // namespace berth
