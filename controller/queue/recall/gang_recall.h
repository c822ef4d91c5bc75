// SPDX-License-Identifier: Apache-2.0
// GangRecall: whether berth can take back a gang without a Job as a whole, and which pods it
// evicts. The gang's controllers re-create its pods, and these are gated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/queue/facts/workload.h"

namespace berth::queue {

// Whether the gang has pods that were released by an admission which is not taken back yet.
bool is_running_gang(const Workload& workload);
// Whether it has more than one pod. If a gang of one loses its pod, no other pod runs on without
// it.
bool is_gang_of_several(const Workload& workload);

// Returns the pods that this admission released, now or later, and that have not finished, by name.
std::vector<const berth::Pod*> round_of(const ClusterState& cluster, const Workload& workload,
                                        std::int64_t since);
// Whether the index knows any such pod.
bool has_round(const Workload& workload, std::int64_t since);

// Returns why berth can't evict all its pods together; empty if it can. Only the budgets of the
// pods in `asked` matter.
std::string why_not_whole(const ClusterState& cluster, const std::vector<const berth::Pod*>& round,
                          const std::vector<const berth::Pod*>& asked);
// Does the same for a gang that should run again, so its queue has to admit.
std::string why_gang_stays(const ClusterState& cluster, const Workload& workload,
                           const std::vector<const berth::Pod*>& round,
                           const std::vector<const berth::Pod*>& asked);

}  // namespace berth::queue
