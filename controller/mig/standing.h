// SPDX-License-Identifier: Apache-2.0
// Standing: how a node that is held, failed, right or on its way is told in status.details. Nodes
// that wait for their turn are judged by rollout_choice.
#pragma once

#include <optional>

#include "controller/core/cause.h"
#include "controller/mig/rollout_choice.h"
#include "controller/mig/situation.h"

namespace berth {

// Nothing for a node that differs and could go: it is a candidate.
std::optional<NodeStanding> standing_of(const Situation& situation);

// A node that waits, with the column its reason belongs to.
NodeStanding waiting(const Node& node, Cause cause);

}  // namespace berth
