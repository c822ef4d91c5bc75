// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/pod_address.h"

#include <fmt/format.h>

#include <cstdint>

namespace berth::sim {

// FNV-1a: different names get different addresses.
std::string pod_address(const std::string& node) {
  std::uint32_t hash = 2'166'136'261U;
  for (const char c : node) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  return fmt::format("10.{}.{}.{}", hash >> 24, (hash >> 16) & 255U, (hash >> 8) & 255U);
}

}  // namespace berth::sim
