// SPDX-License-Identifier: Apache-2.0
// explain_node: which pool and which layout a node belongs to and why, where it stands in the
// rollout, who keeps it out of service, and what keeps it from being drained.
#pragma once

#include <string>

#include "controller/core/snapshot.h"
#include "controller/preview/why_explanation.h"

namespace berth {

// `node` is one of the snapshot's.
Explanation explain_node(const Snapshot& snapshot, const Node& node);

// Who cordoned the node, and until when, as far as berth knows; empty if nobody did. For pods that
// wait for it, too.
std::string told_cordon(const Snapshot& snapshot, const Node& node);

}  // namespace berth
