// SPDX-License-Identifier: Apache-2.0
// NodesToAsk: which nodes' own exporters berth asks while a Prometheus measures, because something
// might follow from what it told of them. Prometheus believes whatever it scrapes, so that its word
// alone takes nothing from anybody.
#pragma once

#include <string>
#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/core/cluster_state.h"
#include "controller/core/samples.h"

namespace berth {

// After the fold() of a round, of `samples.tried_at`. Those first that were asked longest ago, and
// no more than can be asked in one round. Besides the suspects each node is asked now and then: an
// error that its exporter has shown for long is not taken for one that has just come.
std::vector<std::string> nodes_to_ask(const ClusterState& cluster, const Samples& samples,
                                      const GPUClusterPolicySpec& policy);

}  // namespace berth
