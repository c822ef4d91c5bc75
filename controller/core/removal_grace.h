// SPDX-License-Identifier: Apache-2.0
// RemovalGrace: the grace period of evictions and deletions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "apis/kinds/core.h"

namespace berth {

// The grace period in seconds that an eviction or a deletion sends; nullopt: the pod's own. It is
// at least 1, even if the pod's own is 0. With 0 the API server would remove the object while
// processes may still hold the GPU, and the chart's policies refuse that.
inline std::optional<std::int64_t> removal_grace(const Pod& pod,
                                                 std::optional<std::int64_t> wanted = {}) {
  constexpr std::int64_t kLeast = 1;
  if (!wanted && pod.termination_grace_period_seconds >= kLeast) return std::nullopt;
  return std::max(wanted.value_or(kLeast), kLeast);
}

}  // namespace berth
