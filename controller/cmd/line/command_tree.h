// SPDX-License-Identifier: Apache-2.0
// CommandTree: the commands and options of the command line, from the library that parses them.
// Manual page, reference and completion use it, so they can't differ from the program.
#pragma once

#include <string>
#include <vector>

namespace berth {

struct CommandOption {
  std::vector<std::string> names;  // "-o", "--output"; for a positional its only name
  std::string value;               // "FILE", "text|json"; empty: a switch
  std::string default_value;       // as text; empty: none
  std::string help;
  std::string group;
  bool positional = false;
  bool repeatable = false;
};
// The allowed values of an option; empty: any text.
std::vector<std::string> choices(const CommandOption& option);

struct CommandTree {
  std::string name;
  std::string summary;
  std::string examples;  // shell commands, one per line; some lines are comments
  std::vector<CommandOption> options;
  std::vector<CommandTree> commands;
};

}  // namespace berth
