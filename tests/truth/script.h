// SPDX-License-Identifier: Apache-2.0
// Scripts: 10 to 40 random requests on a few objects of one to three kinds. The writer keeps a
// rough idea of what exists, so that most requests have something to act on.
#pragma once

#include <cstdint>

#include "tests/truth/operation.h"

namespace berth::truth {

// Equal seeds give equal scripts.
Script write_script(std::uint64_t seed);

}  // namespace berth::truth
