// SPDX-License-Identifier: Apache-2.0
// `berth version`: the version of berth, as text or for programs.
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"

namespace berth {

struct VersionFlags {
  std::string output = "text";
};
FlagTable version_flags(VersionFlags& flags);

int run_version(const VersionFlags& flags);

}  // namespace berth
