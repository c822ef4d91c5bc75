// SPDX-License-Identifier: Apache-2.0
// Crew: processes that run side by side. Each is forked for one task, reports line by line, and
// exits. If a process dies, the crew reports that too.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace berth::explore {

// Forks a child that dies with its parent; 0 in the child.
pid_t fork_bound();
// Waits for the child: how it died, empty if it exited normally.
std::string wait_for_end(pid_t child);

class Crew {
 public:
  using Say = std::function<void(const std::string& line)>;

  explicit Crew(int size) : size_(static_cast<std::size_t>(size)) {}
  ~Crew();  // kills running workers
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  bool has_room() const { return workers_.size() < size_; }
  bool is_idle() const { return workers_.empty(); }
  // `number` identifies the task.
  void start(std::size_t number, const std::function<void(const Say& say)>& work);

  struct News {
    std::size_t number = 0;
    std::string line;
    bool ended = false;  // the last news of this number; `line` says how it died, empty: normally
  };
  // Blocks until a worker reports.
  std::vector<News> wait();

 private:
  struct Worker {
    std::size_t number = 0;
    pid_t pid = 0;
    int pipe = -1;
    std::string rest;  // an incomplete line
  };
  const std::size_t size_;
  std::vector<Worker> workers_;
};

}  // namespace berth::explore
