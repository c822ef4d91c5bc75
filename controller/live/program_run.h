// SPDX-License-Identifier: Apache-2.0
// ProgramRun: runs another program to its end, never through a shell. The program inherits only
// standard error and, if it may prompt the user, standard input. Loop thread only. The destructor
// kills the program and calls nothing.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/live/uv_loop.h"

namespace berth {

struct Program {
  std::string command;  // a path, or a name to find in berth's PATH, not in that of `environment`
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value"; the complete environment
  bool reads_input = false;
  std::chrono::milliseconds limit{60'000};
};

struct ProgramEnd {
  int cannot_start = 0;  // errno; the other fields are then unset
  bool timed_out = false;
  bool too_much = false;  // it printed more than 1 MiB
  int exit_code = 0;
  int signal = 0;      // that killed it; 0: none
  std::string output;  // its standard output
};

class ProgramRun {
 public:
  // Posts `done` with the result.
  ProgramRun(UvLoop& loop, const Program& program, std::function<void(ProgramEnd)> done);
  ~ProgramRun();
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;

 private:
  struct Handles;
  int start(const Program& program);
  void take(const char* data, long count);
  void exited(int exit_code, int signal);
  void kill();
  void finish_if_over();
  void finish();

  UvLoop& loop_;
  std::function<void(ProgramEnd)> done_;  // empty once called
  ProgramEnd end_;
  Handles* handles_;  // they free themselves once closed
  Loop::TimerId limit_ = 0;
  bool exited_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  bool drained_ = false;  // no process holds the other end of its standard output
};

}  // namespace berth
