// SPDX-License-Identifier: Apache-2.0
// `berth simulate`: plays a scenario on a simulated cluster. Exit code 0: it ended as the scenario
// expects. 1: it did not, or the file is invalid.
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"

namespace berth {

struct SimulateFlags {
  std::string file;
  int seed = 1;
  std::string output = "text";
  bool ui = false;
  int port = 0;  // of the page; 0: any free port
};
FlagTable simulate_flags(SimulateFlags& flags);

int run_simulate(const SimulateFlags& flags);

}  // namespace berth
