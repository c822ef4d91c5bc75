// SPDX-License-Identifier: Apache-2.0
// Child: one program that a test starts. The kernel kills it when the test dies, and its output
// goes to one file. The destructor ends it with SIGTERM, and after a grace period with SIGKILL.
// Start it only from the test's main thread, because the kernel ties a child's life to the thread
// that forked it.
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
  void signal(int number);                     // does nothing if it has ended
  void freeze();                               // SIGSTOP
  void thaw();                                 // SIGCONT
  void kill_now();                             // SIGKILL, then waits until it is gone
  void stop(std::chrono::milliseconds grace);  // SIGTERM, then SIGKILL once grace is over
  // The exit code, or 128 + the signal that ended it; nullopt: it still runs after `limit`.
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

// A free TCP port on loopback, which the system gives to no other program for a minute.
int free_loopback_port();

}  // namespace berth::test
