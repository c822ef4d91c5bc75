// SPDX-License-Identifier: Apache-2.0
// `berth help`: the help of one command, or of all as a manual page or as docs/cli.md.
#pragma once

#include <string>

#include "controller/cmd/line/command_line.h"
#include "controller/cmd/line/flags.h"

namespace berth {

struct HelpFlags {
  std::string command;
  std::string output = "text";
};
FlagTable help_flags(HelpFlags& flags);

int run_help(const HelpFlags& flags, const CommandLine& line);

}  // namespace berth
