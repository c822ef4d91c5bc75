// SPDX-License-Identifier: Apache-2.0
// TextUnderWay: the present step and the next steps of a node that is out of service.
#pragma once

#include <string>

#include "controller/preview/projection.h"

namespace berth {

// "being verified since 10:31:58Z, back in service next"; omits the date if it is that of `today`.
std::string tell_under_way(const NodeChange& node, Time today);

}  // namespace berth
