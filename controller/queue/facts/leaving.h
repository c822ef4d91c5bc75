// SPDX-License-Identifier: Apache-2.0
// Leaving: which leaving workloads berth counts on (rule 9). A pod that still exists a minute after
// its grace period hangs: berth does not expect its quota or its room.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

// After the end of the grace period.
inline constexpr std::chrono::minutes kCountedOnFor{1};

// `now` is in microseconds since the epoch.
bool hangs(const Workload& workload, std::int64_t now);
bool hangs(const Pod& pod, std::int64_t now);

// Sorts by expected end, the earliest first.
void sort_by_end(std::vector<const Workload*>& leaving);

}  // namespace berth::queue
