// SPDX-License-Identifier: Apache-2.0
// Usage: what this process has cost so far, and the memory it holds.
#pragma once

#include <chrono>

namespace berth {

struct Usage {
  double cpu_s = 0;  // user + system
  std::chrono::steady_clock::time_point at;
};
Usage usage_now();
double wall_s(const Usage& from, const Usage& to);

struct Memory {
  double resident_mib = 0;
  double anonymous_mib = 0;
};
Memory memory_now();

}  // namespace berth
