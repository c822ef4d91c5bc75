// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/world/random.h"

#include <fmt/format.h>

namespace berth::sim {

std::string Random::uuid() {
  const std::uint64_t high = next();
  const std::uint64_t low = next();
  return fmt::format("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xfff, low >> 52, low & 0xffffffffffff);
}

}  // namespace berth::sim
