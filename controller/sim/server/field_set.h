// SPDX-License-Identifier: Apache-2.0
// FieldSet: a set of field paths in the form of metadata.managedFields (FieldsV1). A step of a path
// is "f:NAME" for a member, "k:{…}" for a list item by its keys, or "v:VALUE" for an item of a set.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace berth::sim {

struct FieldSet {
  bool member = false;  // the path to this node is in the set
  std::map<std::string, FieldSet> below;

  bool empty() const;
  bool operator==(const FieldSet&) const = default;
};

FieldSet union_of(const FieldSet& a, const FieldSet& b);
FieldSet intersection_of(const FieldSet& a, const FieldSet& b);
// Removes the paths of `b`; paths below one of them stay.
FieldSet difference_of(const FieldSet& a, const FieldSet& b);
// Adds every member "f:NAME" that has paths below it, so that a struct without fields is removed.
FieldSet with_parents(const FieldSet& set);

FieldSet decode_fields(const nlohmann::json& fields_v1);
nlohmann::json encode_fields(const FieldSet& set);
// Change the encoded form in place, and only where the set has paths. take_fields() returns whether
// it removed any path.
void add_fields(nlohmann::json& fields_v1, const FieldSet& set);
bool take_fields(nlohmann::json& fields_v1, const FieldSet& set);
// Each path in the form of conflict messages: ".metadata.labels.a",
// ".status.conditions[type=\"Ready\"].status".
std::vector<std::string> print_paths(const FieldSet& set);

}  // namespace berth::sim
