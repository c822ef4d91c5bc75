// SPDX-License-Identifier: Apache-2.0
// ObjectNames: parses objects as users name them on a command line, "pdb/team-a/chat".
#pragma once

#include <string>
#include <string_view>

#include "apis/base/result.h"
#include "controller/sim/world/resource_type.h"

namespace berth {

// By kind, plural or kubectl's short name, case ignored; null if the simulation does not serve it.
const sim::ResourceType* find_object_type(std::string_view word);
// "it serves nodes, pods, …", for messages.
std::string served_kinds();

struct ObjectName {
  const sim::ResourceType* type = nullptr;
  std::string namespace_;
  std::string name;
  std::string str() const;  // "nodes/n1", "pods/team-a/x"
};
// KIND/NAME for cluster-scoped kinds, KIND/NAMESPACE/NAME for the others.
Result<ObjectName> parse_object_name(std::string_view text);

}  // namespace berth
