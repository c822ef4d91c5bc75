// SPDX-License-Identifier: Apache-2.0
#include "apis/base/int_or_percent.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace berth {

Result<IntOrPercent> IntOrPercent::parse(std::string_view text) {
  std::string_view digits = text;
  bool percent = !digits.empty() && digits.back() == '%';
  if (percent) digits.remove_suffix(1);
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0) {
    return decode_error("", fmt::format("\"{}\" is neither a number nor a percentage: write 2 or "
                                        "\"10%\"",
                                        text.substr(0, 64)));
  }
  if (percent && value > 100) {
    return decode_error(
        "", fmt::format("{} is more than all of them: write at most \"100%\"", text.substr(0, 64)));
  }
  if (!percent && value > std::numeric_limits<std::int32_t>::max()) {
    return decode_error("", fmt::format("{} is too large", text.substr(0, 64)));
  }
  return IntOrPercent{value, percent};
}

std::int64_t IntOrPercent::of(std::int64_t total) const {
  if (!percent) return value;
  // Split, so that no total can overflow.
  std::int64_t share = total / 100 * value + total % 100 * value / 100;
  return std::max<std::int64_t>(share, 1);
}

std::string IntOrPercent::str() const {
  return percent ? fmt::format("{}%", value) : fmt::format("{}", value);
}

}  // namespace berth
