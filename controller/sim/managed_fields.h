// SPDX-License-Identifier: Apache-2.0
// ManagedFields: who wrote which field last, as metadata.managedFields tells it. Updates and
// patches take what they change from everybody else; an apply owns exactly what it states, and
// meets a conflict where another's field would change.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/sim/resource_type.h"

namespace berth::sim {

struct Author {
  std::string manager;
  std::string subresource;  // "" or "status"
  std::string time;         // of the write
};

// After an update or a patch made `next` of `live` (null: of nothing): moves the ownership of what
// differs. An object whose fields have no owners stays so.
void track_update(const ResourceType& type, const nlohmann::json& live, nlohmann::json& next,
                  const Author& author);

}  // namespace berth::sim
