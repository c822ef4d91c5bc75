// SPDX-License-Identifier: Apache-2.0
// `berth release`: lets go all that waits in queues, past every quota. For emergencies, and before
// berth is taken away: nobody else would start it.
#pragma once

#include <string>

#include "controller/cmd/flags.h"

namespace berth {

struct ReleaseFlags {
  bool all = false;        // in every namespace
  std::string namespace_;  // or in this one
  bool yes = false;        // else it is only told
  ConfigFlags connection;
};
FlagTable release_flags(ReleaseFlags& flags);

int run_release(const ReleaseFlags& flags);

}  // namespace berth
