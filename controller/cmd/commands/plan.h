// SPDX-License-Identifier: Apache-2.0
// `berth plan`: what a cluster would do after some files are applied or some objects deleted. Exit
// code 0: nothing to do. 2: changes. 1: an error, a layout that can't take effect, or, with
// --simulate, a change that does not complete.
#pragma once

#include <string>
#include <vector>

#include "controller/cmd/line/flags.h"

namespace berth {

struct PlanFlags {
  std::vector<std::string> files;      // none: what the controller is about to do anyway
  std::vector<std::string> deletions;  // "KIND/NAME"
  std::string snapshot;                // empty: the live cluster
  std::string output = "text";
  bool simulate = false;
  bool ui = false;
  int port = 0;  // of the page; 0: any free port
  ConfigFlags connection;
  std::string account = "berth";  // the controller's ServiceAccount; empty: try nothing in its name
  Settings settings;
};
FlagTable plan_flags(PlanFlags& flags);

int run_plan(const PlanFlags& flags);

}  // namespace berth
