// SPDX-License-Identifier: Apache-2.0
// EmptySelection: why a label selector selects no node, with the value on existing nodes that the
// user most likely meant.
#pragma once

#include <map>
#include <string>

#include "apis/kinds/core.h"
#include "controller/core/cluster_state.h"

namespace berth {

// "no node has tier=inferense; 5 have =inference". Call it only if no node matches the selector.
std::string why_none_matches(const LabelSelector& selector, const ClusterState& cluster);

// "5 have =inference": the values most similar to `wanted`, or the most frequent ones if none is
// similar. `values` counts the nodes of each value. Empty if there are no values.
std::string values_instead(const std::string& wanted, const std::map<std::string, int>& values);

}  // namespace berth
