// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "apis/core.h"

namespace berth {

// What an eviction or a deletion says; nothing leaves the pod the time that it gives itself. Never
// 0, whatever the pod says: that would take its object away while its processes may still hold the
// GPU, and the chart's policies refuse it.
inline std::optional<std::int64_t> removal_grace(const Pod& pod,
                                                 std::optional<std::int64_t> wanted = {}) {
  constexpr std::int64_t kLeast = 1;
  if (!wanted && pod.termination_grace_period_seconds >= kLeast) return std::nullopt;
  return std::max(wanted.value_or(kLeast), kLeast);
}

}  // namespace berth
