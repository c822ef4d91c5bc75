// SPDX-License-Identifier: Apache-2.0
// NeverReady: Jobs and gangs that a queue with a podsReadyTimeout has admitted and that have pods
// which have never been Ready. Each pod has this time from the admission, or from its own creation
// if that is later. Then berth takes back the whole workload, and each time it waits longer. A pod
// that has been Ready once may restart as long as it likes: later failures of its probe do not
// count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/snapshot.h"
#include "controller/queue/facts/workload.h"

namespace berth::queue {

struct NeverReady {
  std::int64_t pods = 0;  // pods that have not been Ready yet, or do not exist
  Time since{};           // when the time of the first of them began
  Time until{};           // when it ends
  // The Job that berth then suspends, if budgets allow it for the pods on nodes. Null: it is a gang
  // without a Job, or it stays.
  const berth::Job* requeued = nullptr;
  // For a gang without a Job: all released pods, which berth then evicts. Empty: the gang stays.
  std::vector<const berth::Pod*> recalled;
  std::vector<const berth::Pod*> bound;
  std::string stays;  // why it stays

  // Returns `until`, or later if this leader began to lead recently (core/patience.h).
  Time ends(const Snapshot& snapshot) const;
};

// Returns nothing if the queue sets no podsReadyTimeout, or if all pods have been Ready.
std::optional<NeverReady> never_ready(const ClusterState& cluster, const Workload& workload);

// Whether the Job runs and as many pods as it wants have been Ready, although it was taken back
// before.
bool has_overcome_setbacks(const ClusterState& cluster, const Workload& workload);

// Whether the workload needs a look as time passes or its pods become Ready: it runs and may become
// late, or it is a Job that is left out of its queue for a while.
bool is_timed(const ClusterState& cluster, const Workload& workload);

}  // namespace berth::queue
