// SPDX-License-Identifier: Apache-2.0
// QueueStakes: what GPUQueues lose if a node is taken: the resources that their nominal quotas and
// admitted workloads need, by pool, and the nodes of admissions in flight. Valid as long as the
// snapshot.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/core/snapshot.h"

namespace berth {

struct QueueStake {
  std::string resource;  // or the class `gpu`, for which any GPU resource is enough
  std::string pool;      // "*": any pool
  std::string queue;     // one of the queues with this stake
  bool nominal = false;  // by its quota; otherwise by admitted workloads
};

// Returns each resource and pool once, by name.
std::vector<QueueStake> queue_stakes(const Snapshot& snapshot);

// Returns node → workload for admissions in the ledger whose release or whose pods are still to
// come.
std::map<std::string, std::string, std::less<>> admissions_in_flight(const Snapshot& snapshot);

}  // namespace berth
