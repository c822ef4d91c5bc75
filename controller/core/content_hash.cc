// SPDX-License-Identifier: Apache-2.0
#include "controller/core/content_hash.h"

#include <fmt/format.h>

#include <cstdint>

namespace berth {

std::string content_hash(std::string_view content) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char c : content) hash = (hash ^ c) * 0x100000001b3;
  return fmt::format("{:08x}", static_cast<std::uint32_t>(hash ^ (hash >> 32)));
}

}  // namespace berth
