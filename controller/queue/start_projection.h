// SPDX-License-Identifier: Apache-2.0
// start_projection: when what waits begins, if what runs, and what begins after it, ends as it is
// said to: the engine's own order and places (cycle.h), from one end to the next. Others come
// meanwhile; nobody is displaced and nothing is kept for heads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "controller/queue/arrivals.h"
#include "controller/queue/facts_index.h"

namespace berth::queue {

struct Projection {
  std::unordered_map<const Workload*, std::int64_t> starts;  // microseconds since the epoch
  // It looked no further than that; nothing: as far as anything is said to end.
  std::optional<std::int64_t> looked_until;
  // What holds quota and room, and nobody says until when: what runs, then what would begin.
  std::vector<const Workload*> endless;
  std::size_t work = 0;  // tries, and others that came
};

// How long it runs in all, of which it has run for `so_far` (microseconds); nothing: nobody knows.
using RunTime = std::function<std::optional<std::int64_t>(const Workload&, std::int64_t so_far)>;

// Workloads are tried that often, and as many others come, at the most; each end counts as a try,
// and what else LookingAhead says (cycle.h). They come until all has ended that is known now.
Projection project_starts(const FactsIndex& index, std::int64_t now, const RunTime& run_time,
                          Arrivals::Stream& arrivals, std::size_t tries);

}  // namespace berth::queue
