// SPDX-License-Identifier: Apache-2.0
// EmptySelection: why a label selector selects no node, with the value that nodes do have and that
// was most likely meant.
#pragma once

#include <map>
#include <string>

#include "apis/core.h"
#include "controller/core/cluster_state.h"

namespace berth {

// "no node has tier=inferense; 5 have =inference". For a selector that none of the nodes matches.
std::string why_none_matches(const LabelSelector& selector, const ClusterState& cluster);

// "5 have =inference", from how often each value is there; those that are there most if none is
// near. Empty if there is none.
std::string values_instead(const std::string& wanted, const std::map<std::string, int>& values);

}  // namespace berth
