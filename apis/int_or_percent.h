// SPDX-License-Identifier: Apache-2.0
// "2" or "10%": how budgets are written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apis/result.h"

namespace berth {

struct IntOrPercent {
  std::int64_t value = 1;
  bool percent = false;

  // "10%" or "3"; percent 0-100, number ≥ 0.
  static Result<IntOrPercent> parse(std::string_view text);
  // Of total: percents rounded down, but at least 1 (a budget of nothing would stop for ever).
  std::int64_t of(std::int64_t total) const;
  std::string str() const;
  bool operator==(const IntOrPercent&) const = default;
};

}  // namespace berth
