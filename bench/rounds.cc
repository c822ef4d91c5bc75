// SPDX-License-Identifier: Apache-2.0
#include "bench/rounds.h"

#include <algorithm>
#include <vector>

#include "bench/usage.h"

namespace berth {
namespace {

// A controller looks at its fleet once a second at most, and the rest of the machine has used the
// caches since: a round that began with what the last one left there would flatter, and small
// fleets more than large ones.
void leave_cold_caches() {
  static std::vector<unsigned char> other(64 << 20);
  for (std::size_t i = 0; i < other.size(); i += 64) ++other[i];
}

}  // namespace

double median_cpu_ms(int rounds, const std::function<void()>& work) {
  std::vector<double> costs;
  for (int i = 0; i < rounds; ++i) {
    leave_cold_caches();
    const Usage before = usage_now();
    work();
    costs.push_back((usage_now().cpu_s - before.cpu_s) * 1e3);
  }
  std::sort(costs.begin(), costs.end());
  return costs[costs.size() / 2];
}

}  // namespace berth
