// SPDX-License-Identifier: Apache-2.0
// The MIG reconcilers: pure functions from a snapshot to a plan. After a plan is applied, the next
// plan is empty.
#pragma once

#include <string>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// The keys that controller/reconcilers/key_families.cc dispatches. A prefix that ends in a slash is
// followed by a name.
inline constexpr std::string_view kLayoutKeys = "layout/";
inline constexpr std::string_view kNodeKeys = "node/";
inline constexpr std::string_view kSlotsKey = "slots";
inline constexpr std::string_view kAgentConfigKey = "agent-config";
inline std::string layout_key(std::string_view name) {
  return std::string(kLayoutKeys).append(name);
}
inline std::string node_key(std::string_view name) { return std::string(kNodeKeys).append(name); }

// "layout/NAME": chooses the next nodes, claims their slots, keeps the finalizer, and writes the
// status.
Plan reconcile_mig_layout(const Snapshot& snapshot, std::string_view layout);

// "node/NAME": plans the next step of one node that holds a slot or is in progress.
Plan reconcile_node_rollout(const Snapshot& snapshot, std::string_view node);

// "slots": frees the slots of nodes that are back or gone, and restores a deleted ledger.
Plan reconcile_slots(const Snapshot& snapshot);

// "agent-config": renders every layout into the one file that NVIDIA's mig-manager reads.
Plan reconcile_agent_config(const Snapshot& snapshot);

}  // namespace berth
