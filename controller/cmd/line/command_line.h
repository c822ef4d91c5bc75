// SPDX-License-Identifier: Apache-2.0
// CommandLine: berth's commands, and which of them the user typed. It makes CLI11 options from
// tables of flags (flags.h). No other file includes CLI11, because it takes half a minute to
// compile.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "apis/base/result.h"
#include "controller/cmd/line/command_tree.h"
#include "controller/cmd/line/flags.h"

namespace CLI {
class App;
}

namespace berth {

struct CommandText {
  std::string name;
  std::string summary;   // a sentence
  std::string examples;  // shell commands, one per line
};

class CommandLine {
 public:
  // `program` is the name under which it was called; --version prints `version`.
  CommandLine(const std::string& program, const std::string& summary, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;

  // The fields in `table` and the captures of `run` must outlive the command line.
  void add(const CommandText& text, FlagTable table, std::function<int()> run);
  // Returns the process's exit code. For a wrong command line it prints an error, with the most
  // similar name, and returns 1, as for every other error.
  int run(int argc, char** argv);

  CommandTree tree() const;
  // The text of --help; for an empty command, that of the program.
  Result<std::string> help(const std::string& command) const;

 private:
  class Command;
  int complain_of_usage(const std::string& otherwise) const;

  std::unique_ptr<CLI::App> app_;
  std::deque<Command> commands_;
};

}  // namespace berth
