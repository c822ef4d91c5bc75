// SPDX-License-Identifier: Apache-2.0
// Units in most tests of the queue.
#pragma once

#include <cstdint>

namespace berth::queue::test {

inline constexpr char kGpu[] = "nvidia.com/gpu";
inline constexpr char kMig[] = "nvidia.com/mig-1g.10gb";
inline constexpr std::int64_t kMinute = 60'000'000;  // microseconds

}  // namespace berth::queue::test
