// SPDX-License-Identifier: Apache-2.0
// advise_on_node: what would change the node's state.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/explain/explanation.h"
#include "controller/explain/node_view.h"

namespace berth {

void advise_on_node(const Snapshot& snapshot, const Node& node, const NodeView& view,
                    Explanation& out);

}  // namespace berth
