// SPDX-License-Identifier: Apache-2.0
#include "controller/cost/money.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace berth::cost {
namespace {

constexpr Micros kMost = std::numeric_limits<Micros>::max();
constexpr Micros kUnit = 1'000'000;
constexpr std::size_t kDecimals = 6;
__extension__ using Wide = __int128;

std::optional<Micros> number_in(std::string_view digits) {
  Micros number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<Micros> parse_price(std::string_view decimal) {
  const std::size_t point = decimal.find('.');
  std::string fraction(point == std::string_view::npos ? "" : decimal.substr(point + 1));
  if (fraction.size() > kDecimals || (point != std::string_view::npos && fraction.empty()))
    return std::nullopt;
  fraction.resize(kDecimals, '0');
  const auto units = number_in(decimal.substr(0, point)), millionths = number_in(fraction);
  if (!units || !millionths || *units >= kMost / kUnit) return std::nullopt;
  return *units * kUnit + *millionths;
}

std::string format_money(Micros amount, int decimals) {
  Micros step = kUnit;
  for (int i = 0; i < decimals; ++i) step /= 10;
  const Micros rounded = amount / step + (amount % step >= step - step / 2 ? 1 : 0);
  const Micros per_unit = kUnit / step;
  if (decimals == 0) return fmt::format("{}", rounded);
  return fmt::format("{}.{:0{}}", rounded / per_unit, rounded % per_unit, decimals);
}

Micros capped_sum(Micros a, Micros b) {
  Micros sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kMost : sum;
}

Micros capped_product(Micros a, Micros b) {
  Micros product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

Micros share_of(Micros a, Micros b, Micros c) {
  const Wide share = static_cast<Wide>(a) * b / c;
  return share > kMost ? kMost : static_cast<Micros>(share);
}

}  // namespace berth::cost
