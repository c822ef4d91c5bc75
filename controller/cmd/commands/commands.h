// SPDX-License-Identifier: Apache-2.0
// Commands whose flags are in flags.h. Each returns the process's exit code.
#pragma once

#include "controller/cmd/line/flags.h"

namespace berth {

int run_controller(ControllerFlags flags);

}  // namespace berth
