// SPDX-License-Identifier: Apache-2.0
// Origin: the plan in execution that a request belongs to.
#pragma once

#include <stop_token>
#include <string>

namespace berth {

struct Origin {
  std::string key;
  std::string id;  // reconcile_id in the log
  std::stop_token stop;
  std::string cause = {};  // "MIGLayout/halves generation 4"; empty: unknown
};

}  // namespace berth
