// SPDX-License-Identifier: Apache-2.0
// Commands: one function per subcommand. Each returns the process' exit code.
#pragma once

#include "controller/cmd/flags.h"

namespace berth {

int run_controller(ControllerFlags flags);
int run_version();

}  // namespace berth
