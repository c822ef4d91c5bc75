// SPDX-License-Identifier: Apache-2.0
// Discovery: the real server serves everything that the simulator claims to serve, in the same way.
#pragma once

#include <string>
#include <vector>

#include "tests/truth/side.h"

namespace berth::truth {

// A line for each resource that the server has differently, or lacks.
std::vector<std::string> compare_discovery(Side& server, Side& simulator);

}  // namespace berth::truth
