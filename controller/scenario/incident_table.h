// SPDX-License-Identifier: Apache-2.0
// IncidentTable: the verbs of a scenario's timeline, with their targets and arguments. The parser,
// the manual (docs/simulation.md has the same list) and play() all use this table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

struct IncidentArg {
  enum class Type { kText, kDuration, kInteger, kTextMap, kObject, kChoice };
  std::string name;
  Type type = Type::kText;
  bool required = false;
  std::vector<std::string> words = {};  // for a choice
  int least = -1, most = 1000;          // for an integer
};

struct IncidentVerb {
  // The value of the verb.
  enum class Target {
    kNone,        // nothing, or true
    kNode,        // n1
    kNodeOrAll,   // n1, or all
    kNewNode,     // the name of a node that does not exist yet
    kBerthOrAll,  // berth-0, leader, or all
    kPod,         // NAMESPACE/NAME: a pod, or any pod of the workload with that name
    kObject,      // KIND/NAME or KIND/NAMESPACE/NAME
    kManifest     // an object, or {file: PATH}
  };
  std::string name;
  Target target;
  std::vector<IncidentArg> args;
};

std::span<const IncidentVerb> incident_verbs();
const IncidentVerb* find_incident_verb(std::string_view name);

}  // namespace berth
