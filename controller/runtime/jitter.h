// SPDX-License-Identifier: Apache-2.0
// Jitter: spreads retries and timeouts. Seeded, so that a simulation is repeatable.
#pragma once

#include <chrono>
#include <cstdint>

namespace berth {

class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) : state_(seed) {}

  double fraction() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  // in [0, 1)
  std::chrono::nanoseconds between(std::chrono::nanoseconds low, std::chrono::nanoseconds high) {
    return low + std::chrono::nanoseconds(static_cast<std::int64_t>(
                     static_cast<double>((high - low).count()) * fraction()));
  }
  std::chrono::nanoseconds up_to(std::chrono::nanoseconds high) {
    return between(std::chrono::nanoseconds(0), high);
  }

 private:
  // splitmix64: simple, spreads well enough, and gives the same numbers everywhere.
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace berth
