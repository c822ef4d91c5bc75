// SPDX-License-Identifier: Apache-2.0
// What of an API server's objects goes into a report: no environment, no managedFields, no
// annotation that repeats the whole object, no data of a Secret.
#pragma once

#include <string>
#include <vector>

#include "apis/result.h"

namespace berth {

// A list as the API server sent it, trimmed.
Result<std::string> trimmed_list(const std::string& body);

struct LoggedContainer {
  std::string pod;
  std::string container;
  bool has_restarted = false;
};
// Of a list of pods.
Result<std::vector<LoggedContainer>> containers_in(const std::string& body);

}  // namespace berth
