// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/managed_fields.h"

#include <nlohmann/json.hpp>

namespace berth::sim {

void track_update(const ResourceType&, const nlohmann::json&, nlohmann::json&, const Author&) {}

}  // namespace berth::sim
