// SPDX-License-Identifier: Apache-2.0
// Which parts of the API server's objects a report contains: no environment, no managedFields, no
// annotation that repeats the whole object, and no data of a Secret.
#pragma once

#include <string>
#include <vector>

#include "apis/base/result.h"

namespace berth {

// Trims a list in the form that the API server sends.
Result<std::string> trimmed_list(const std::string& body);

struct LoggedContainer {
  std::string pod;
  std::string container;
  bool has_restarted = false;
};
// `body`: a list of pods.
Result<std::vector<LoggedContainer>> containers_in(const std::string& body);

}  // namespace berth
