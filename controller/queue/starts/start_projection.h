// SPDX-License-Identifier: Apache-2.0
// StartProjection: when waiting workloads start, if running ones and those that start after them
// end as given. It goes from one end to the next, with the engine's own order and placement
// (cycle.h). New workloads arrive meanwhile. berth displaces no workload and keeps no reservation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "controller/queue/facts/facts_index.h"
#include "controller/queue/starts/arrivals.h"

namespace berth::queue {

struct Projection {
  std::unordered_map<const Workload*, std::int64_t> starts;  // microseconds since the epoch
  // It looked no further than this time; absent: up to the last known end.
  std::optional<std::int64_t> looked_until;
  // Workloads that hold quota and room without a known end: first running ones, then those that
  // would start.
  std::vector<const Workload*> endless;
  std::size_t work = 0;  // tries, and arrivals
};

// Returns the total run time of a workload that has run for `so_far` (microseconds); nothing:
// unknown.
using RunTime = std::function<std::optional<std::int64_t>(const Workload&, std::int64_t so_far)>;

// At most `tries` tries of workloads and as many arrivals. Each end counts as a try, and so does
// the work that LookingAhead names (cycle.h). Workloads arrive until all workloads that are known
// now have ended.
Projection project_starts(const FactsIndex& index, std::int64_t now, const RunTime& run_time,
                          Arrivals::Stream& arrivals, std::size_t tries);

}  // namespace berth::queue
