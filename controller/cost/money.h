// SPDX-License-Identifier: Apache-2.0
// Money as integers, so that sums are exact: a price of 3.06 is 3,060,000 millionths. A sum or
// product that doesn't fit becomes the largest number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::cost {

using Micros = std::int64_t;  // millionths of a currency's unit

// Reads a decimal of the GPUClusterPolicy, with six decimals at most; nothing: it is none.
std::optional<Micros> parse_price(std::string_view decimal);

// Rounds to `decimals` decimals, 0 to 6: "71481.60".
std::string format_money(Micros amount, int decimals);

Micros capped_sum(Micros a, Micros b);
Micros capped_product(Micros a, Micros b);
// Returns a × b ÷ c, rounded down. a and b are at least 0, c is above 0.
Micros share_of(Micros a, Micros b, Micros c);

}  // namespace berth::cost
