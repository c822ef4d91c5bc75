// SPDX-License-Identifier: Apache-2.0
// QueueStakes: what GPUQueues have to lose when a node is taken: the resources that their nominal
// quotas and what they have admitted count on, by pool, and the nodes that an admission is on its
// way to. Valid as long as the snapshot it was made from.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/core/snapshot.h"

namespace berth {

struct QueueStake {
  std::string resource;  // or the class `gpu`, for which any GPU resource will do
  std::string pool;      // "*": anywhere
  std::string queue;     // one of those that have it
  bool nominal = false;  // by its quota; else by what it has admitted
};

// Each resource and pool once, by name.
std::vector<QueueStake> queue_stakes(const Snapshot& snapshot);

// By node the workload whose admission to it stands in the ledger: its release is to come, or its
// pods are.
std::map<std::string, std::string, std::less<>> admissions_in_flight(const Snapshot& snapshot);

}  // namespace berth
