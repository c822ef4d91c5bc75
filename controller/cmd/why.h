// SPDX-License-Identifier: Apache-2.0
// `berth why`: why a pod waits, or why a node is as it is, and what would change that. Exit code 0:
// it has been answered, 1: an error.
#pragma once

#include <string>
#include <vector>

#include "controller/cmd/flags.h"

namespace berth {

struct WhyFlags {
  std::vector<std::string> subject;  // empty: everything that waits
  std::string namespace_;            // of those that name none; empty: the context's
  bool all_namespaces = false;
  std::string snapshot;  // empty: the live cluster
  std::string output = "text";
  ConfigFlags connection;
  Settings settings;
};
FlagTable why_flags(WhyFlags& flags);

int run_why(const WhyFlags& flags);

}  // namespace berth
