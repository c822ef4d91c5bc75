// SPDX-License-Identifier: Apache-2.0
// LostPlaces: nodes that went out of service after a workload was admitted to them.
#pragma once

#include <string>

#include "controller/core/cluster_state.h"
#include "controller/queue/facts/workload.h"

namespace berth::queue {

// Returns what is wrong with the node, for example "node n1 is gone"; empty if it is in service.
std::string why_lost(const ClusterState& cluster, const std::string& node);

// Whether berth should decide the workload again: it has lost a node, and none of its pods is
// released.
bool has_lost_its_place(const ClusterState& cluster, const Workload& workload,
                        const AdmissionFact& admission);

}  // namespace berth::queue
