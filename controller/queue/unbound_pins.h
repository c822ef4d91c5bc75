// SPDX-License-Identifier: Apache-2.0
// UnboundPins: pods that berth has pinned to nodes and let go, and that kube-scheduler has bound to
// none; and what becomes of them once the queue's placementTimeout is over. They are taken back
// where they would be decided otherwise than they were, and stay where they are else: so nothing
// goes round and round, and nothing has to be counted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"
#include "controller/queue/cluster_index.h"

namespace berth::queue {

struct UnboundPins {  // of one workload
  std::string queue;
  std::int64_t pods = 0;
  std::vector<std::string> nodes;  // that they are pinned to
  Time since{};                    // of the admission, or the creation of those made later
  Time until{};                    // how long kube-scheduler has
  // Then:
  const berth::Job* requeued = nullptr;    // it is suspended, and waits again with its age,
  std::vector<const berth::Pod*> evicted;  // or these are evicted, and come back at their gate,
  std::string stays;                       // and the others stay. Why; empty: there are none.

  std::string lost;  // what is wrong with one of the nodes: "node n1 is gone"; empty: nothing

  // The same for this leader (core/patience.h).
  Time ends(const Snapshot& snapshot) const;
  bool is_blocked(const Snapshot& snapshot) const {
    return snapshot.now >= ends(snapshot) && !stays.empty();
  }
};

// Nothing if it has none, or if its queue is gone.
std::optional<UnboundPins> unbound_pins(const ClusterState& cluster, const Workload& workload);

struct BlockedPins {
  std::map<std::string, Cause, std::less<>> by_queue;
  std::optional<Time> again;  // when the next may be blocked
};
BlockedPins find_blocked_pins(const Snapshot& snapshot);

}  // namespace berth::queue
