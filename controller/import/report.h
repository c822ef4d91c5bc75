// SPDX-License-Identifier: Apache-2.0
// ImportReport: what the user must know of an import in addition to its objects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/import/source.h"

namespace berth {

class ImportReport {
 public:
  // A field that no object can express: why, and the alternative.
  void lose(const Source& source, std::string field, std::string why);
  // A field that an object expresses with another value: why, and which.
  void alter(const Source& source, std::string field, std::string why);
  // A field that is imported and needs a change elsewhere: on workloads, nodes or other objects.
  void ask(const Source& source, std::string field, std::string what);
  // A source that is not imported on purpose.
  void skip(const Source& source, std::string why);
  // A source that is not a valid object of its kind.
  void refuse(const Source& source, std::string field, std::string why);

  // Sorts all findings in the order of the files, and by line.
  void sort(const Sources& sources);

  std::vector<Finding> lost;  // altered fields too
  std::vector<Finding> steps;
  std::vector<Finding> skipped;
  std::vector<Finding> wrong;
};

}  // namespace berth
