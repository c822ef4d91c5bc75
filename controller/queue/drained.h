// SPDX-License-Identifier: Apache-2.0
// Drained: a gang that no Job makes, and that a queue has let go which takes back what runs. It
// goes whole, by a mark in the ledger: if its pods went one by one, those that come in their place
// would follow the others by their admission, and the queue would never be empty.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/queue/workload.h"

namespace berth::queue {

struct Drained {
  std::string why;  // "queue vision is drained"
  // All that were let go: they are evicted. Empty: it stays.
  std::vector<const berth::Pod*> recalled;
  std::vector<const berth::Pod*> bound;  // of them, those that do not go anyway
  std::string stays;                     // why
};

// Nothing if its queue drains nothing, or if it is no gang of several pods or has its mark already.
std::optional<Drained> drained(const ClusterState& cluster, const Workload& workload);

}  // namespace berth::queue
