// SPDX-License-Identifier: Apache-2.0
// NeverReady: Jobs and gangs that a queue with a podsReadyTimeout has let go, and of which not
// every pod has been Ready yet. Each pod has that time, from the admission on or from its creation
// if that is later; then all of it is taken back, for longer each time. What has been Ready once
// may restart as long as it likes: no probe that fails later takes back what has begun.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/queue/workload.h"

namespace berth::queue {

struct NeverReady {
  std::int64_t pods = 0;  // that have not been Ready yet, or are not there
  Time since{};           // when the time of the first of them began
  Time until{};           // when it is late
  // Then it is suspended, if budgets allow that of its pods on nodes. Null: it is a gang that no
  // Job makes, or stays.
  const berth::Job* requeued = nullptr;
  // Of such a gang all that were let go: they are evicted likewise. Empty: it stays.
  std::vector<const berth::Pod*> recalled;
  std::vector<const berth::Pod*> bound;
  std::string stays;  // why

  // The same for this leader (core/patience.h).
  Time ends(const Snapshot& snapshot) const;
};

// Nothing if its queue sets no such time, or all of its pods have been Ready.
std::optional<NeverReady> never_ready(const ClusterState& cluster, const Workload& workload);

// Whether the Job runs, and as many of its pods as it wants have been Ready, though it was set back
// before.
bool has_overcome_setbacks(const ClusterState& cluster, const Workload& workload);

// What has to be looked at as time goes by or its pods begin: it runs and may be late, or of a Job
// what counts its setbacks has to go, or it is left out for a while.
bool is_timed(const ClusterState& cluster, const Workload& workload);

}  // namespace berth::queue
