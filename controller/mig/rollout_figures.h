// SPDX-License-Identifier: Apache-2.0
// RolloutFigures: what /metrics tells of MIGLayouts, of the nodes that berth has taken out of
// service, and of what is left in service.
#pragma once

#include <optional>
#include <string_view>

#include "controller/core/cluster_state.h"
#include "controller/core/figures.h"
#include "controller/core/settings.h"

namespace berth {

Figures rollout_figures(const ClusterState& cluster, const Settings& settings);

// How the rollout of a node has ended with this change of it; nothing if it has not.
enum class RolloutEnd {
  kRepartitioned,  // verified
  kRolledBack,     // verified with the config it had before
  kPutBack,        // given up before its GPUs were touched
  kFailed,         // given up, and out until a person has looked
};
inline constexpr RolloutEnd kRolloutEnds[] = {RolloutEnd::kRepartitioned, RolloutEnd::kRolledBack,
                                              RolloutEnd::kPutBack, RolloutEnd::kFailed};
const char* to_string(RolloutEnd end);  // "repartitioned"; a label's value
std::optional<RolloutEnd> rollout_end(const Node& before, const Node& after);

}  // namespace berth
