// SPDX-License-Identifier: Apache-2.0
// CommandLine: berth's commands, and what a user typed as one of them. Tables of flags (flags.h)
// become CLI11 options here: the one file that includes it, as it costs half a minute of compiling.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "apis/result.h"
#include "controller/cmd/command_tree.h"
#include "controller/cmd/flags.h"

namespace CLI {
class App;
}

namespace berth {

struct CommandText {
  std::string name;
  std::string summary;   // a sentence
  std::string examples;  // lines as a shell takes them
};

class CommandLine {
 public:
  // `program` is what the user called; `version` what --version prints.
  CommandLine(const std::string& program, const std::string& summary, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;

  // What the table's fields and `run` refer to must outlive the command line.
  void add(const CommandText& text, FlagTable table, std::function<int()> run);
  // The process' exit code. A command line that cannot be obeyed is told of, with what may have
  // been meant: 1, as for every other error.
  int run(int argc, char** argv);

  CommandTree tree() const;
  // As --help prints it; of no command, of the program.
  Result<std::string> help(const std::string& command) const;

 private:
  class Command;
  int complain_of_usage(const std::string& otherwise) const;

  std::unique_ptr<CLI::App> app_;
  std::deque<Command> commands_;
};

}  // namespace berth
