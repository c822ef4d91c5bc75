// SPDX-License-Identifier: Apache-2.0
// LostPlaces: nodes that have gone out of service since something was admitted to them.
#pragma once

#include <string>

#include "controller/core/cluster_state.h"
#include "controller/queue/workload.h"

namespace berth::queue {

// What has become of it, "node n1 is gone"; empty: it is in service.
std::string why_lost(const ClusterState& cluster, const std::string& node);

// Whether the workload should be decided anew: it has lost a node, and nothing of it has been let
// go.
bool has_lost_its_place(const ClusterState& cluster, const Workload& workload,
                        const AdmissionFact& admission);

}  // namespace berth::queue
