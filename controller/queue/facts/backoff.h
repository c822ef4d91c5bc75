// SPDX-License-Identifier: Apache-2.0
// Backoff: how many times in a row a workload may fail to be ready in time, and how long it waits
// after each.
#pragma once

#include <chrono>
#include <cstdint>

#include "apis/base/time.h"

namespace berth::queue {

// After so many in a row it waits until a user acts.
inline constexpr std::int64_t kMostSetbacks = 5;

// Returns one, two, four or eight minutes.
inline Duration backoff_after(std::int64_t times) {
  Duration backoff = std::chrono::minutes(1);
  for (std::int64_t i = 1; i < times && i < kMostSetbacks; ++i) backoff *= 2;
  return backoff;
}

}  // namespace berth::queue
