// SPDX-License-Identifier: Apache-2.0
// Discovery: what the simulator says it serves is served so by the real server, which serves more.
#pragma once

#include <string>
#include <vector>

#include "tests/truth/side.h"

namespace berth::truth {

// A line for each resource that the server has otherwise, or not at all.
std::vector<std::string> compare_discovery(Side& server, Side& simulator);

}  // namespace berth::truth
