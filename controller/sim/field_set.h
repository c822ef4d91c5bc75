// SPDX-License-Identifier: Apache-2.0
// FieldSet: a set of field paths, as metadata.managedFields tells it (FieldsV1). A step of a path
// is "f:NAME" for a member, "k:{…}" for an item of a list by its keys, "v:VALUE" for one of a set.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace berth::sim {

struct FieldSet {
  bool member = false;  // the path that leads here is in the set
  std::map<std::string, FieldSet> below;

  bool empty() const;
  bool operator==(const FieldSet&) const = default;
};

FieldSet union_of(const FieldSet& a, const FieldSet& b);
FieldSet intersection_of(const FieldSet& a, const FieldSet& b);
// Without the paths of `b`; what lies below one of them stays.
FieldSet difference_of(const FieldSet& a, const FieldSet& b);
// With every member "f:NAME" that has something below it: removing all of a struct removes it.
FieldSet with_parents(const FieldSet& set);

FieldSet decode_fields(const nlohmann::json& fields_v1);
nlohmann::json encode_fields(const FieldSet& set);
// On the encoded form, which is changed in place and only as far as the set reaches. Removing says
// whether anything was there.
void add_fields(nlohmann::json& fields_v1, const FieldSet& set);
bool take_fields(nlohmann::json& fields_v1, const FieldSet& set);
// Each path as conflicts name it: ".metadata.labels.a",
// ".status.conditions[type=\"Ready\"].status".
std::vector<std::string> print_paths(const FieldSet& set);

}  // namespace berth::sim
