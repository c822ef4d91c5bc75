// SPDX-License-Identifier: Apache-2.0
// DrainSteps: the next evictions on a cordoned node, and what the drain waits for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/plan.h"
#include "controller/disruption/drain.h"

namespace berth {

struct DrainProgress {
  bool empty = true;       // every pod that must leave has left
  bool timed_out = false;  // a pod is past its deadline and may not be forced
  Cause cause;             // what it waits for: PodsLeaving, PodDisruptionBudget, JobRunning, …
};

// Returns what blocks the drain. Plans nothing.
DrainProgress drain_progress(const Snapshot& snapshot, const Node& node, const DrainSpec& drain,
                             Time since);

// Plans one step of the drain that began at `since`: it evicts the pods that may be evicted, each
// after a dry run. After drain.timeout with onTimeout Force, it deletes pods with their grace
// period.
DrainProgress plan_drain(const Snapshot& snapshot, const Node& node, const DrainSpec& drain,
                         Time since, Plan& plan);

}  // namespace berth
