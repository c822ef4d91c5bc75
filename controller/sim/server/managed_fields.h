// SPDX-License-Identifier: Apache-2.0
// ManagedFields: who wrote which field last, in metadata.managedFields. Updates and patches take
// over the fields that they change. An apply owns exactly the fields that it states. It removes
// fields that it stated before, unless another manager owns them, and fails with a conflict if it
// would change another manager's field.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/sim/world/resource_type.h"

namespace berth::sim {

struct Author {
  std::string manager;
  std::string subresource;  // "" or "status"
  std::string time;         // of the write
};

// After an update or a patch changed `live` (null: nothing) to `next`: moves the ownership of
// changed fields. An object whose fields have no owners stays so.
void track_update(const ResourceType& type, const nlohmann::json& live, nlohmann::json& next,
                  const Author& author);

// Server-side apply: returns `live` (null: nothing yet) merged with `config`, including the owners.
// Without `force` throws a 409 with one cause per conflict.
nlohmann::json apply_config(const ResourceType& type, const nlohmann::json& live,
                            const nlohmann::json& config, const Author& author, bool force);

// Whether only the owners' times differ: such a write counts as no change.
bool differs_in_times_alone(const nlohmann::json& live, const nlohmann::json& next);

}  // namespace berth::sim
