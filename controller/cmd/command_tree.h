// SPDX-License-Identifier: Apache-2.0
// CommandTree: what the command line takes, as the library that reads it holds it. Manual page,
// reference and completion are written from it, so that none of them can tell of another command
// line than the program obeys.
#pragma once

#include <string>
#include <vector>

namespace berth {

struct CommandOption {
  std::vector<std::string> names;  // "-o", "--output"; of a positional its one word
  std::string value;               // "FILE", "text|json"; empty: a switch
  std::string default_value;       // as text; empty: none
  std::string help;
  std::string group;
  bool positional = false;
  bool repeatable = false;
};
// The words of a value that must be one of some; empty: any text will do.
std::vector<std::string> choices(const CommandOption& option);

struct CommandTree {
  std::string name;
  std::string summary;
  std::string examples;  // lines as a shell takes them, some of them comments
  std::vector<CommandOption> options;
  std::vector<CommandTree> commands;
};

}  // namespace berth
