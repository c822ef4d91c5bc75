// SPDX-License-Identifier: Apache-2.0
// `berth plan`: what applying some files, or deleting some objects, would do to a cluster. Exit
// code 0: nothing to do, 2: changes, 1: an error, a layout that can't take effect as it is written,
// or, with --simulate, a change that does not come to its end.
#pragma once

#include <string>
#include <vector>

#include "controller/cmd/flags.h"

namespace berth {

struct PlanFlags {
  std::vector<std::string> files;      // none: what the controller is about to do anyway
  std::vector<std::string> deletions;  // "KIND/NAME"
  std::string snapshot;                // empty: the live cluster
  std::string output = "text";
  bool simulate = false;
  bool ui = false;
  int port = 0;  // of the page; 0: any free one
  ConfigFlags connection;
  std::string account = "berth";  // the controller's; empty: nothing is tried in its name
  Settings settings;
};
FlagTable plan_flags(PlanFlags& flags);

int run_plan(const PlanFlags& flags);

}  // namespace berth
