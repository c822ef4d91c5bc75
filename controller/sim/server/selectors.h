// SPDX-License-Identifier: Apache-2.0
// Selectors: which objects a list, a watch or a budget selects.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "controller/sim/world/resource_type.h"

namespace berth::sim {

// One condition on one label.
struct Requirement {
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist };
  std::string key;
  Operator operator_ = Operator::kExists;
  std::vector<std::string> values;
  bool matches(const nlohmann::json* labels) const;
};

// A field's path, "spec.nodeName", and a value that it must or must not have.
struct FieldRequirement {
  std::string path;
  bool equal = true;
  std::string value;
};

struct Selector {
  std::vector<Requirement> labels;
  std::vector<FieldRequirement> fields;
  bool empty() const { return labels.empty() && fields.empty(); }
  bool matches(const nlohmann::json& object) const;
};

// Parses selectors of a query. Throws a 400 if one is invalid or the kind has no such field
// selector.
Selector parse_selector(const ResourceType& type, const std::string& labels,
                        const std::string& fields);
// Matches a metav1.LabelSelector with an object's labels. Null selects nothing.
bool label_selector_matches(const nlohmann::json* selector, const nlohmann::json& object);

}  // namespace berth::sim
