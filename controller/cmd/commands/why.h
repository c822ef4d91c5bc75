// SPDX-License-Identifier: Apache-2.0
// `berth why`: why a pod is pending or why a node is in its state, and what would change that. Exit
// code 0: answered, 1: an error.
#pragma once

#include <string>
#include <vector>

#include "controller/cmd/line/flags.h"

namespace berth {

struct WhyFlags {
  std::vector<std::string> subject;  // empty: everything that waits
  std::string namespace_;            // for subjects without one; empty: that of the context
  bool all_namespaces = false;
  std::string snapshot;  // empty: the live cluster
  std::string output = "text";
  ConfigFlags connection;
  Settings settings;
};
FlagTable why_flags(WhyFlags& flags);

int run_why(const WhyFlags& flags);

}  // namespace berth
