// SPDX-License-Identifier: Apache-2.0
// Plural: counts and lists as users read them.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

// "1 node", "3 nodes".
inline std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}
// The word for one or for several: "does" after 1 node, "do" after 3.
inline std::string_view word_for(std::int64_t count, std::string_view one, std::string_view many) {
  return count == 1 ? one : many;
}

// "a, b, c, …": the first names of a list, and "…" if there are more.
inline std::string list_first(const std::vector<std::string>& names, std::size_t most) {
  const auto first = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  return fmt::format("{}{}", fmt::join(names.begin(), first, ", "),
                     names.size() > most ? ", …" : "");
}

}  // namespace berth
