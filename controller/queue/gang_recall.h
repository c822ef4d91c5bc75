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
// Of more than one pod: a gang of one has nobody who would run on without it.
bool is_gang_of_several(const Workload& workload);

// Of those, and of what was let go later to follow them, who is there yet: on a node or on the way
// to one. By name.
std::vector<const berth::Pod*> round_of(const ClusterState& cluster, const Workload& workload,
                                        std::int64_t since);
// Whether any is in the index.
bool has_round(const Workload& workload, std::int64_t since);

// Why its pods can't all go together: empty if they can. `asked` are those whose budgets matter.
std::string why_not_whole(const ClusterState& cluster, const std::vector<const berth::Pod*>& round,
                          const std::vector<const berth::Pod*>& asked);
// Likewise of a gang that is to run again, so that its queue has to admit.
std::string why_gang_stays(const ClusterState& cluster, const Workload& workload,
                           const std::vector<const berth::Pod*>& round,
                           const std::vector<const berth::Pod*>& asked);

}  // namespace berth::queue
