// SPDX-License-Identifier: Apache-2.0
// Drained: a gang that no Job owns and that a drained queue (stopPolicy HoldAndDrain) has admitted.
// berth evicts all its pods together and writes a mark in the ledger first. Without the mark, pods
// that replace evicted ones would be released by the gang's admission, and the queue would never be
// empty.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/queue/facts/workload.h"

namespace berth::queue {

struct Drained {
  std::string why;  // for example "queue vision is drained"
  // All released pods of the gang, to evict. Empty: the gang stays.
  std::vector<const berth::Pod*> recalled;
  std::vector<const berth::Pod*> bound;  // the pods of these on nodes that are not terminating yet
  std::string stays;                     // why the gang stays
};

// Returns nothing if the queue is not drained, the workload is no gang of several pods, or its mark
// exists already.
std::optional<Drained> drained(const ClusterState& cluster, const Workload& workload);

}  // namespace berth::queue
