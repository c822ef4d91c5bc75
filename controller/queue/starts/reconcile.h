// SPDX-License-Identifier: Apache-2.0
// The key of estimated starts; StartTeller (start_teller.h) reconciles it.
#pragma once

#include <string_view>

namespace berth::queue {

// Writes expected start times into the queues' statuses, once a minute (start_teller.h). This
// function starts a new round of plays, and reports only if one turn is enough for it.
inline constexpr std::string_view kEstimatesKey = "estimates";

}  // namespace berth::queue
