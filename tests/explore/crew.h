// SPDX-License-Identifier: Apache-2.0
// Crew: processes that work side by side. Each is forked for one piece of work, tells of it line by
// line, and ends with it. What dies in the middle is told of too.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace berth::explore {

// A child that does not outlive its parent; 0 in the child.
pid_t fork_bound();
// Waits for the child: how it died, empty if it ended in order.
std::string wait_for_end(pid_t child);

class Crew {
 public:
  using Say = std::function<void(const std::string& line)>;

  explicit Crew(int size) : size_(static_cast<std::size_t>(size)) {}
  ~Crew();  // kills who still works
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  bool has_room() const { return workers_.size() < size_; }
  bool is_idle() const { return workers_.empty(); }
  // `number` tells the pieces of work apart.
  void start(std::size_t number, const std::function<void(const Say& say)>& work);

  struct News {
    std::size_t number = 0;
    std::string line;
    bool ended = false;  // the last of this number; `line` is how it died, empty in order
  };
  // Blocks until somebody has something to tell.
  std::vector<News> wait();

 private:
  struct Worker {
    std::size_t number = 0;
    pid_t pid = 0;
    int pipe = -1;
    std::string rest;  // of a line
  };
  const std::size_t size_;
  std::vector<Worker> workers_;
};

}  // namespace berth::explore
