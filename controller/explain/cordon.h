// SPDX-License-Identifier: Apache-2.0
// Cordon: who keeps a node out of service, and until when, as far as berth knows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controller/core/snapshot.h"
#include "controller/disruption/slots.h"
#include "controller/dump/clues.h"

namespace berth {

// Empty if the node is not cordoned. Also used for pods that wait for the node.
std::string told_cordon(const Snapshot& snapshot, const Node& node,
                        const Clues& clues = no_clues());

// For a node that berth has cordoned and whose rollout annotation is lost.
std::optional<Slot> lost_slot(const Snapshot& snapshot, const Node& node);

// Returns the layout's cause for a refused write to the node, from its status; nullptr if there is
// none.
const NodeDetail* refusal_told(const MIGLayout& layout, std::string_view node);

}  // namespace berth
