// SPDX-License-Identifier: Apache-2.0
// Random: the only source of randomness of a simulation. Equal seeds give equal numbers on every
// machine, which the standard library's distributions do not guarantee.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace berth::sim {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // splitmix64 (Steele, Lea and Flood, 2014): any seed works, also 0 and 1.
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // [0, bound); 0 if bound is 0.
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::chrono::nanoseconds between(std::chrono::nanoseconds low, std::chrono::nanoseconds high) {
    return low +
           std::chrono::nanoseconds(below(static_cast<std::uint64_t>((high - low).count()) + 1));
  }
  // A separate generator, so that one caller's draws do not change another's.
  Random fork() { return Random(next()); }
  // Hex digits in the shape of a UUID.
  std::string uuid();

 private:
  std::uint64_t state_;
};

}  // namespace berth::sim
