// SPDX-License-Identifier: Apache-2.0
// Standing: how status.details shows a node that is held, failed, up to date or in progress.
// rollout_choice decides about nodes that wait for their turn.
#pragma once

#include <optional>

#include "controller/core/cause.h"
#include "controller/mig/rollout_choice.h"
#include "controller/mig/situation.h"

namespace berth {

// Returns nothing for a node that has to be changed and may be taken: it is a candidate.
std::optional<NodeStanding> standing_of(const Situation& situation);

// Returns the standing of a waiting node, in the column of its reason.
NodeStanding waiting(const Node& node, Cause cause);

}  // namespace berth
