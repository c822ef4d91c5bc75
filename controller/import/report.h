// SPDX-License-Identifier: Apache-2.0
// ImportReport: what a person must know of an import beside the objects it gives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/import/source.h"

namespace berth {

class ImportReport {
 public:
  // What no object says: why, and what to do instead.
  void lose(const Source& source, std::string field, std::string why);
  // What an object says otherwise: why, and how.
  void alter(const Source& source, std::string field, std::string why);
  // What is carried over, and asks for a hand elsewhere: on workloads, nodes, other objects.
  void ask(const Source& source, std::string field, std::string what);
  // What was not meant to be carried over.
  void skip(const Source& source, std::string why);
  // What is no object of its kind.
  void refuse(const Source& source, std::string field, std::string why);

  // All in the order of the files, and by line.
  void sort(const Sources& sources);

  std::vector<Finding> lost;  // and altered
  std::vector<Finding> steps;
  std::vector<Finding> skipped;
  std::vector<Finding> wrong;
};

}  // namespace berth
