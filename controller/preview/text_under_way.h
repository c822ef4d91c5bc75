// SPDX-License-Identifier: Apache-2.0
// Of a node that is in hand: what is being done to it, and what really comes next.
#pragma once

#include <string>

#include "controller/preview/projection.h"

namespace berth {

// "being verified since 10:31:58Z, back in service next"; times of `today` go without the date.
std::string tell_under_way(const NodeChange& node, Time today);

}  // namespace berth
