// SPDX-License-Identifier: Apache-2.0
// `berth release`: releases all queued workloads, whatever the quotas. For emergencies, and before
// berth is uninstalled: nothing else would start them.
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"

namespace berth {

struct ReleaseFlags {
  bool all = false;        // in every namespace
  std::string namespace_;  // or in this one
  bool yes = false;        // false: only list them
  ConfigFlags connection;
};
FlagTable release_flags(ReleaseFlags& flags);

int run_release(const ReleaseFlags& flags);

}  // namespace berth
