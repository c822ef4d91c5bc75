// SPDX-License-Identifier: Apache-2.0
// cause_of: which object asks for what a key's plan does, for the log and the history.
#pragma once

#include <string>
#include <string_view>

#include "controller/core/cluster_state.h"

namespace berth {

// "MIGLayout/halves generation 4"; empty where no single object does.
std::string cause_of(const ClusterState& cluster, std::string_view key);

}  // namespace berth
