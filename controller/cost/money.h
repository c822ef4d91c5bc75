// SPDX-License-Identifier: Apache-2.0
// Money as integers, so that sums close: a price of 3.06 is 3,060,000 millionths. Sums and products
// that don't fit stop at the largest number there is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::cost {

using Micros = std::int64_t;  // millionths of a currency's unit

// A decimal as the GPUClusterPolicy has it, with six decimals at most; nothing if it is none.
std::optional<Micros> parse_price(std::string_view decimal);

// Rounded to so many decimals, 0 to 6: "71481.60".
std::string format_money(Micros amount, int decimals);

Micros capped_sum(Micros a, Micros b);
Micros capped_product(Micros a, Micros b);
// a × b ÷ c, rounded down, of numbers that aren't negative; c is above 0.
Micros share_of(Micros a, Micros b, Micros c);

}  // namespace berth::cost
