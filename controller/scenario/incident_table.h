// SPDX-License-Identifier: Apache-2.0
// IncidentTable: the verbs of a scenario's timeline, what each happens to and what it takes beside.
// One table for the parser, for the manual (docs/simulation.md lists the same) and for play().
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
  std::vector<std::string> words = {};  // of a choice
  int least = -1, most = 1000;          // of an integer
};

struct IncidentVerb {
  // What stands behind the verb.
  enum class Target {
    kNone,        // nothing, or true
    kNode,        // n1
    kNodeOrAll,   // n1, or all
    kNewNode,     // the name of a node that is not there yet
    kBerthOrAll,  // berth-0, leader, or all
    kPod,         // NAMESPACE/NAME; a pod, or any pod of the workload of that name
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
