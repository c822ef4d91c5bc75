// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/facts/amount.h"

#include <fmt/format.h>

#include "controller/queue/facts/catalog.h"

namespace berth::queue {

std::string format_decimal(std::int64_t amount, std::int64_t unit, int digits) {
  if (amount < 0) return "-" + format_decimal(-amount, unit, digits);
  std::string text = fmt::format("{}.{:0{}}", amount / unit, amount % unit, digits);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string format_thousandths(std::int64_t amount) { return format_decimal(amount, 1000, 3); }

std::string format_amount(std::int64_t amount, ResourceId resource) {
  if (resource != Catalog::kClass) return std::to_string(amount);
  return format_decimal(amount, kWholeGpu, 6);
}

}  // namespace berth::queue
