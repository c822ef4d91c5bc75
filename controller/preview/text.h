// SPDX-License-Identifier: Apache-2.0
// Text: a projection for users: the steps in order, their effects, refusals, and what to write.
#pragma once

#include <string>

#include "controller/preview/projection.h"

namespace berth {

std::string print_text(const Projection& projection);

}  // namespace berth
