// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "controller/cmd/commands.h"

namespace berth {

int run_version() {
  std::printf("berth %s\n", BERTH_VERSION);
  return 0;
}

}  // namespace berth
