// SPDX-License-Identifier: Apache-2.0
// `berth log-level`: changes the log level of a running berth without a restart. For use in its
// container, which has no shell: kubectl exec … -- berth log-level debug.
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"

namespace berth {

struct LogLevelFlags {
  std::string level;  // debug, or flag: the level from the start
  int pid = 1;
};
FlagTable log_level_flags(LogLevelFlags& flags);

int run_log_level(const LogLevelFlags& flags);

}  // namespace berth
