// SPDX-License-Identifier: Apache-2.0
// FieldSchema: which parts of an object are merged and which are written as a whole, as the kinds'
// OpenAPI schemas define (x-kubernetes-list-type, x-kubernetes-map-type).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/sim/world/resource_type.h"

namespace berth::sim {

struct ListRule {
  enum class Kind { kAtomic, kSet, kMap };
  Kind kind = Kind::kAtomic;
  std::vector<std::string_view> keys;  // for a map
};

// A position in the schema: the members' names from the top, "[]" for an item of a list.
class FieldSchema {
 public:
  explicit FieldSchema(const ResourceType& type) : type_(&type) {}

  FieldSchema member(const std::string& name) const;
  FieldSchema item() const;
  ListRule list() const;
  bool is_atomic_map() const;

 private:
  const ResourceType* type_;
  std::string path_;  // inside a pod template: relative to the pod
};

}  // namespace berth::sim
