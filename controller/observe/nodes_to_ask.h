// SPDX-License-Identifier: Apache-2.0
// NodesToAsk: the nodes whose own exporters berth asks while a Prometheus measures, because berth
// may act on what Prometheus says about them. Prometheus accepts whatever it scrapes. So berth
// reclaims no GPU and cordons no node for its answers alone.
#pragma once

#include <string>
#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/core/cluster_state.h"
#include "controller/core/samples.h"

namespace berth {

// Returns the nodes to ask after the fold() of a round; its time is `samples.tried_at`. Suspect
// nodes come first, then those that berth asked longest ago, as many as one round can ask. Nodes
// that are not suspect are asked now and then, so that berth does not take an old error for a new
// one.
std::vector<std::string> nodes_to_ask(const ClusterState& cluster, const Samples& samples,
                                      const GPUClusterPolicySpec& policy);

}  // namespace berth
