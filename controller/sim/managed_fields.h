// SPDX-License-Identifier: Apache-2.0
// ManagedFields: who wrote which field last, as metadata.managedFields tells it. Updates and
// patches take what they change from everybody else. An apply owns exactly what it states, takes
// away what it stated before and nobody else owns, and meets a conflict where another's field would
// change.
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

// Server-side apply: `live` (null: nothing yet) with what `config` states, owners included. Throws
// a 409 with a cause per conflict, unless forced.
nlohmann::json apply_config(const ResourceType& type, const nlohmann::json& live,
                            const nlohmann::json& config, const Author& author, bool force);

// Whether nothing but the times of owners differs: such a write is none.
bool differs_in_times_alone(const nlohmann::json& live, const nlohmann::json& next);

}  // namespace berth::sim
