// SPDX-License-Identifier: Apache-2.0
// ProgramRun: another program, run to its end: never through a shell, with no file of ours open but
// standard error and, if it may ask the user, standard input. Loop thread only. Destroying it kills
// the program, without another word to anybody.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/live/uv_loop.h"

namespace berth {

struct Program {
  std::string command;  // a path, or a name to look for in our PATH: whatever `environment` says
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value", all of it
  bool reads_input = false;
  std::chrono::milliseconds limit{60'000};
};

struct ProgramEnd {
  int cannot_start = 0;  // errno; the rest then says nothing
  bool timed_out = false;
  bool too_much = false;  // it printed more than a mebibyte
  int exit_code = 0;
  int signal = 0;      // that ended it; 0: none did
  std::string output;  // what it wrote to standard output
};

class ProgramRun {
 public:
  // `done` is posted.
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
  std::function<void(ProgramEnd)> done_;  // empty: it has been called
  ProgramEnd end_;
  Handles* handles_;  // libuv's: they free themselves once closed
  Loop::TimerId limit_ = 0;
  bool exited_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  bool drained_ = false;  // nobody holds the other end of its standard output any more
};

}  // namespace berth
