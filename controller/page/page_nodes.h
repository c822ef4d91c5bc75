// SPDX-License-Identifier: Apache-2.0
// PageNodes: the page's JSON of each node with GPUs: its resources, the pods that hold them, the
// utilization of its GPUs, and its rollout.
#pragma once

#include <map>
#include <string>

#include "controller/core/snapshot.h"

namespace berth {

// Compact JSON by node name. It names only pods of `seen`; what other pods hold, by `all`, is only
// counted.
std::map<std::string, std::string> page_nodes(const Snapshot& seen, const Snapshot& all);

}  // namespace berth
