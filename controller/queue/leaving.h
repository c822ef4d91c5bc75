// SPDX-License-Identifier: Apache-2.0
// Leaving: which of the workloads that leave berth counts on (rule 9). A pod that is still there a
// minute after its grace period hangs: its quota and its room may never come.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "controller/queue/facts_index.h"

namespace berth::queue {

// After the end of the grace period.
inline constexpr std::chrono::minutes kCountedOnFor{1};

// `now` in microseconds since the epoch.
bool hangs(const Workload& workload, std::int64_t now);
bool hangs(const Pod& pod, std::int64_t now);

// Those first that are expected to be gone first.
void sort_by_end(std::vector<const Workload*>& leaving);

}  // namespace berth::queue
