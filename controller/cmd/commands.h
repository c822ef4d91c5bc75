// SPDX-License-Identifier: Apache-2.0
// The commands whose flags stand in flags.h. Each returns the process' exit code.
#pragma once

#include "controller/cmd/flags.h"

namespace berth {

int run_controller(ControllerFlags flags);

}  // namespace berth
