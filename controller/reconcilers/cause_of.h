// SPDX-License-Identifier: Apache-2.0
// cause_of: which object caused the plan of a key, for the log and the history.
#pragma once

#include <string>
#include <string_view>

#include "controller/core/cluster_state.h"

namespace berth {

// "MIGLayout/halves generation 4"; empty if no single object is the cause.
std::string cause_of(const ClusterState& cluster, std::string_view key);

}  // namespace berth
