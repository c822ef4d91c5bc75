// SPDX-License-Identifier: Apache-2.0
// EarlyStarts: admissions in the ledger that wait for other workloads and would fit without
// waiting.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

// Returns the waiting admissions that berth should decide again: the first one, in the order of
// decisions, that has waited kWaitsAtLeast and fits now, and the later ones that are in its way.
// `displaces` says for which of them a displaced workload still has to go. These keep what they
// hold. `now` is in microseconds since the epoch.
using Displaces = std::function<bool(const Workload&)>;
std::vector<const Workload*> find_early_starts(const FactsIndex& index,
                                               const std::vector<const Workload*>& waiting,
                                               const Displaces& displaces, std::int64_t now);

// Microseconds that an admission waits at least. If the capacity is reserved for another workload
// (reservation.h), the next cycle may decide the same again.
inline constexpr std::int64_t kWaitsAtLeast = 10'000'000;

}  // namespace berth::queue
