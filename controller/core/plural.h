// SPDX-License-Identifier: Apache-2.0
// Plural: counts as people write them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace berth {

// "1 node", "3 nodes".
inline std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}
// The word for one or for several: "does" after 1 node, "do" after 3.
inline std::string_view word_for(std::int64_t count, std::string_view one, std::string_view many) {
  return count == 1 ? one : many;
}

}  // namespace berth
