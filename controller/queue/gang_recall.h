// SPDX-License-Identifier: Apache-2.0
// GangRecall: whether a gang that no Job makes can be taken back whole, and what goes then. Its
// controllers make its pods anew, and these wait at their gates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/queue/workload.h"

namespace berth::queue {

// It has pods that were let go by an admission which is not taken back yet.
bool is_running_gang(const Workload& workload);

// Of those, and of what was let go later to follow them, who is there yet: on a node or on the way
// to one. By name.
std::vector<const berth::Pod*> round_of(const ClusterState& cluster, const Workload& workload,
                                        std::int64_t since);
// Whether any is in the index.
bool has_round(const Workload& workload, std::int64_t since);

// Why the gang stays as it is: empty if it can be taken back. `asked` are those of its pods whose
// budgets matter.
std::string why_gang_stays(const ClusterState& cluster, const Workload& workload,
                           const std::vector<const berth::Pod*>& round,
                           const std::vector<const berth::Pod*>& asked);

}  // namespace berth::queue
