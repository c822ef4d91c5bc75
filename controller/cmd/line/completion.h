// SPDX-License-Identifier: Apache-2.0
// `berth completion`: prints a script that completes berth's command line in a shell.
#pragma once

#include <string>

#include "apis/base/result.h"
#include "controller/cmd/line/command_tree.h"
#include "controller/cmd/line/flags.h"

namespace berth {

struct CompletionFlags {
  std::string shell;
};
FlagTable completion_flags(CompletionFlags& flags);

int run_completion(const CompletionFlags& flags, const CommandTree& tree);

}  // namespace berth
