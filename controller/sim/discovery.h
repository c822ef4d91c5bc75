// SPDX-License-Identifier: Apache-2.0
// Discovery: what is served, as GET /api/v1 and /apis/GROUP/VERSION tell it.
#pragma once

#include <string>

#include "controller/sim/target.h"

namespace berth::sim {

// An APIResourceList; throws a Refusal if nothing of that group and version is served.
std::string describe_resources(const Target& target);
std::string describe_version();

}  // namespace berth::sim
