// SPDX-License-Identifier: Apache-2.0
// UnboundPins: pods that berth has pinned to nodes and released, and that kube-scheduler has not
// bound; and what to do with them once the queue's placementTimeout is over. berth takes them back
// if it would now decide differently, and leaves them otherwise. So no loop can arise, and nothing
// has to be counted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"
#include "controller/queue/index/cluster_index.h"

namespace berth::queue {

struct UnboundPins {  // of one workload
  std::string queue;
  std::int64_t pods = 0;
  std::vector<std::string> nodes;  // that they are pinned to
  Time since{};                    // of the admission, or the creation of later pods
  Time until{};                    // until when kube-scheduler may take
  // What berth then does:
  const berth::Job* requeued = nullptr;    // suspends this Job, which waits again with its old age
  std::vector<const berth::Pod*> evicted;  // or evicts these pods, which are re-created with a gate
  std::string stays;                       // why the other pods stay; empty: there are none

  std::string lost;  // what is wrong with a node: "node n1 is gone"; empty: nothing

  // Returns `until`, or later if this leader began to lead recently (core/patience.h).
  Time ends(const Snapshot& snapshot) const;
  bool is_blocked(const Snapshot& snapshot) const {
    return snapshot.now >= ends(snapshot) && !stays.empty();
  }
};

// Returns nothing if the workload has no such pods, or if its queue is gone.
std::optional<UnboundPins> unbound_pins(const ClusterState& cluster, const Workload& workload);

struct BlockedPins {
  std::map<std::string, Cause, std::less<>> by_queue;
  std::optional<Time> again;  // when the next may be blocked
};
BlockedPins find_blocked_pins(const Snapshot& snapshot);

}  // namespace berth::queue
