// SPDX-License-Identifier: Apache-2.0
// PageNodes: what the page shows of each node with GPUs: what it offers, who holds it, what its
// GPUs do, and where its rollout stands.
#pragma once

#include <map>
#include <string>

#include "controller/core/snapshot.h"

namespace berth {

// Compact JSON by the node's name. What is told by name is of `seen`; what others hold of its nodes
// is counted, by what is known of `all`.
std::map<std::string, std::string> page_nodes(const Snapshot& seen, const Snapshot& all);

}  // namespace berth
