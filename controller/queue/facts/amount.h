// SPDX-License-Identifier: Apache-2.0
// Amounts in messages: the shortest exact decimal.
#pragma once

#include <cstdint>
#include <string>

#include "controller/queue/facts/ids.h"

namespace berth::queue {

// Returns the shortest exact decimal, such as "1.5" for 1500 thousandths. `unit` is 1000 there,
// with 3 digits.
std::string format_decimal(std::int64_t amount, std::int64_t unit, int digits);
std::string format_thousandths(std::int64_t amount);  // "12.5"
// "12", "0.5": an amount of a quota resource; GPUs for the class gpu.
std::string format_amount(std::int64_t amount, ResourceId resource);

}  // namespace berth::queue
