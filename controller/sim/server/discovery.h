// SPDX-License-Identifier: Apache-2.0
// Discovery: the resources that the server offers, as in GET /api/v1 and /apis/GROUP/VERSION.
#pragma once

#include <string>

#include "controller/sim/server/target.h"

namespace berth::sim {

// An APIResourceList; throws a Refusal if the server has no resource of that group and version.
std::string describe_resources(const Target& target);
std::string describe_version();

}  // namespace berth::sim
