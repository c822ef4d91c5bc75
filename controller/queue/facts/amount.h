// SPDX-License-Identifier: Apache-2.0
// Amounts as people write them: decimal fractions as short as they are exact.
#pragma once

#include <cstdint>
#include <string>

#include "controller/queue/facts/ids.h"

namespace berth::queue {

// "1.5" of 1500 thousandths: `unit` is 1000, with 3 digits.
std::string format_decimal(std::int64_t amount, std::int64_t unit, int digits);
std::string format_thousandths(std::int64_t amount);  // "12.5"
// "12", "0.5": an amount of a quota resource; of the class gpu in GPUs.
std::string format_amount(std::int64_t amount, ResourceId resource);

}  // namespace berth::queue
