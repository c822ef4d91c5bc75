// SPDX-License-Identifier: Apache-2.0
// FieldWalk: objects as trees of fields: the difference of two objects, the fields of one, the
// merge of two, and the removal of fields.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "controller/sim/server/field_schema.h"
#include "controller/sim/server/field_set.h"

namespace berth::sim {

struct Comparison {
  FieldSet changed;  // modified or added
  FieldSet removed;
};
// Ignores unowned fields in both: an object's identity, and the top-level members in `skipped`.
Comparison compare_objects(const FieldSchema& schema, const nlohmann::json& before,
                           const nlohmann::json& after,
                           const std::vector<std::string_view>& skipped);
bool is_identity(std::string_view metadata_member);
FieldSet stated_fields(const FieldSchema& schema, const nlohmann::json& object);
nlohmann::json merge_fields(const FieldSchema& schema, const nlohmann::json& live,
                            const nlohmann::json& config);
nlohmann::json remove_fields(const FieldSchema& schema, const nlohmann::json& object,
                             const FieldSet& fields);

}  // namespace berth::sim
