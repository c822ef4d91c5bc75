// SPDX-License-Identifier: Apache-2.0
// Backoff: how often in a row work may be not ready in time, and how long it waits after each time.
#pragma once

#include <chrono>
#include <cstdint>

#include "apis/base/time.h"

namespace berth::queue {

// After so many in a row it waits for a person.
inline constexpr std::int64_t kMostSetbacks = 5;

// One minute, two, four, eight.
inline Duration backoff_after(std::int64_t times) {
  Duration backoff = std::chrono::minutes(1);
  for (std::int64_t i = 1; i < times && i < kMostSetbacks; ++i) backoff *= 2;
  return backoff;
}

}  // namespace berth::queue
