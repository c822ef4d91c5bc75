// SPDX-License-Identifier: Apache-2.0
// IntOrPercent: "2" or "10%", as budgets have it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apis/base/result.h"

namespace berth {

struct IntOrPercent {
  std::int64_t value = 1;
  bool percent = false;

  // "10%" or "3"; percent 0-100, number ≥ 0.
  static Result<IntOrPercent> parse(std::string_view text);
  // The share of `total`. Percentages are rounded down, but give at least 1: a budget of 0 would
  // block forever.
  std::int64_t of(std::int64_t total) const;
  std::string str() const;
  bool operator==(const IntOrPercent&) const = default;
};

}  // namespace berth
