// SPDX-License-Identifier: Apache-2.0
// Scripts: 10 to 40 random requests on a few objects of one to three kinds. The writer tracks
// roughly which objects exist, so that most requests affect one.
#pragma once

#include <cstdint>

#include "tests/truth/operation.h"

namespace berth::truth {

// Equal seeds give equal scripts.
Script write_script(std::uint64_t seed);

}  // namespace berth::truth
