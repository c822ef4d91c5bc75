// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/validation.h"

#include <nlohmann/json.hpp>

#include "controller/sim/object_fields.h"

namespace berth::sim {

using nlohmann::json;

std::vector<Cause> validate_create(const ResourceType&, const json& object) {
  std::vector<Cause> causes;
  if (text_at(object, {"metadata", "name"}).empty())
    causes.push_back(required_value("metadata.name", "name or generateName is required"));
  return causes;
}

std::vector<Cause> validate_update(const ResourceType&, const json&, const json&,
                                   const std::string&) {
  return {};
}

}  // namespace berth::sim
