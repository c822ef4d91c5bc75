// SPDX-License-Identifier: Apache-2.0
// Child: one program started by a test. It dies with the test (the kernel is told so), its output
// goes to one file, and the destructor ends it: SIGTERM first, SIGKILL after a grace period. To be
// started from the test's main thread only: the kernel ties a child's life to the thread that
// forked it.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace berth::test {

class Child {
 public:
  // Starts argv[0] (a path) with output appended to log_file. Throws std::runtime_error if it
  // cannot be executed.
  Child(std::vector<std::string> argv, std::string log_file,
        std::vector<std::string> extra_env = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool running();
  void signal(int number);                     // nothing happens if it has ended
  void freeze();                               // SIGSTOP
  void thaw();                                 // SIGCONT
  void kill_now();                             // SIGKILL, and waits for it to be gone
  void stop(std::chrono::milliseconds grace);  // SIGTERM, then SIGKILL once grace is over
  // The exit code, or 128 + the signal that ended it; nothing if it still runs after `limit`.
  std::optional<int> wait(std::chrono::milliseconds limit);

  pid_t pid() const { return pid_; }
  const std::string& log_file() const { return log_file_; }
  std::string log_text() const;
  std::string log_tail(std::size_t lines = 20) const;

 private:
  pid_t pid_ = -1;
  std::optional<int> exit_code_;
  std::string log_file_;
  std::string program_;
};

// A TCP port on loopback that is free, and that nobody else is given for the next minute.
int free_loopback_port();

}  // namespace berth::test
