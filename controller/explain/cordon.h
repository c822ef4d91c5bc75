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

// Empty if nobody cordoned it. For pods that wait for the node, too.
std::string told_cordon(const Snapshot& snapshot, const Node& node,
                        const Clues& clues = no_clues());

// Of a node that berth has taken and whose record is gone.
std::optional<Slot> lost_slot(const Snapshot& snapshot, const Node& node);

// What the layout's status says of a write that the API server refuses, or nullptr.
const NodeDetail* refusal_told(const MIGLayout& layout, std::string_view node);

}  // namespace berth
