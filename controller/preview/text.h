// SPDX-License-Identifier: Apache-2.0
// A projection for people: what happens, in order; what it costs; what is refused and what to
// write.
#pragma once

#include <string>

#include "controller/preview/projection.h"

namespace berth {

std::string print_text(const Projection& projection);

}  // namespace berth
