// SPDX-License-Identifier: Apache-2.0
// The key of estimated starts; StartTeller (start_teller.h) reconciles it.
#pragma once

#include <string_view>

namespace berth {

// From when to when it begins, in the same status: once a minute, of what has waited for one.
inline constexpr std::string_view kEstimatesKey = "estimates";

}  // namespace berth
