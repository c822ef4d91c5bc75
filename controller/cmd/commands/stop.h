// SPDX-License-Identifier: Apache-2.0
// `berth stop` and `berth resume`: set and end the emergency stop (core/stop.h).
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"

namespace berth {

struct StopFlags {
  std::string reason;
  std::string namespace_ = Settings().berth_namespace;  // berth's own
  ConfigFlags connection;
};
FlagTable stop_flags(StopFlags& flags);
int run_stop(const StopFlags& flags);

struct ResumeFlags {
  std::string namespace_ = Settings().berth_namespace;
  ConfigFlags connection;
};
FlagTable resume_flags(ResumeFlags& flags);
int run_resume(const ResumeFlags& flags);

}  // namespace berth
