// SPDX-License-Identifier: Apache-2.0
// EarlyStarts: admissions in the ledger that wait for others, and would fit without waiting.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "controller/queue/facts_index.h"

namespace berth::queue {

// Of those that wait, those that are to be decided again: the first, in the order of their
// decisions, that has waited for a while and fits now, and those behind it that are in its way.
// `displaces` says for which of them somebody is yet to go: these keep what they hold.
using Displaces = std::function<bool(const Workload&)>;
std::vector<const Workload*> find_early_starts(const FactsIndex& index,
                                               const std::vector<const Workload*>& waiting,
                                               const Displaces& displaces, std::int64_t now);

// Microseconds that an admission waits at least. Where a place is kept for another (reservation.h),
// the next cycle may decide as before.
inline constexpr std::int64_t kWaitsAtLeast = 10'000'000;

}  // namespace berth::queue
