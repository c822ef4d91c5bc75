// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/metadata.h"

#include <nlohmann/json.hpp>
#include <string>

#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

constexpr const char* kIdentity[] = {"name",
                                     "namespace",
                                     "uid",
                                     "creationTimestamp",
                                     "deletionTimestamp",
                                     "deletionGracePeriodSeconds"};

}  // namespace

void keep_identity(const json& live, json& next) {
  const json& old = live["metadata"];
  json& metadata = next["metadata"];
  for (const char* field : kIdentity) {
    const json* found = find_at(old, {field});
    if (found != nullptr && find_at(metadata, {field}) == nullptr) metadata[field] = *found;
  }
  // Only a deletion sets this time. A writer's outdated value is ignored without an error.
  if (const auto going = old.find("deletionTimestamp"); going != old.end())
    metadata["deletionTimestamp"] = *going;
  metadata.erase("selfLink");
}

std::vector<Cause> find_changed_identity(const json& live, const json& next) {
  std::vector<Cause> causes;
  const json &live_metadata = live["metadata"], &next_metadata = next["metadata"];
  for (const char* field : kIdentity) {
    const json* old = find_at(live_metadata, {field});
    const json* now = find_at(next_metadata, {field});
    const bool same = old == nullptr ? now == nullptr : now != nullptr && *old == *now;
    if (!same)
      causes.push_back(
          immutable(std::string("metadata.") + field, now == nullptr ? "null" : to_text(*now)));
  }
  return causes;
}

}  // namespace berth::sim
