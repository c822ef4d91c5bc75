// SPDX-License-Identifier: Apache-2.0
// `berth log-level`: another level for a berth that runs, without a restart. In its container,
// which has no shell: kubectl exec … -- berth log-level debug.
#pragma once

#include <string>

#include "controller/cmd/flags.h"

namespace berth {

struct LogLevelFlags {
  std::string level;  // debug, or flag: the one that it was started with
  int pid = 1;
};
FlagTable log_level_flags(LogLevelFlags& flags);

int run_log_level(const LogLevelFlags& flags);

}  // namespace berth
