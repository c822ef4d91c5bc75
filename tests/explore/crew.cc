// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/crew.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace berth::explore {
namespace {

void write_all(int pipe, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t wrote = ::write(pipe, text.data() + at, text.size() - at);
    if (wrote <= 0) std::_Exit(1);
    at += static_cast<std::size_t>(wrote);
  }
}

}  // namespace

pid_t fork_bound() {
  const pid_t child = ::fork();
  if (child < 0) std::abort();
  if (child == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return child;
}

std::string wait_for_end(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return fmt::format("the process died of signal {}", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return fmt::format("the process ended: {}", WEXITSTATUS(status));
  return "";
}

Crew::~Crew() {
  for (const Worker& worker : workers_) {
    ::kill(worker.pid, SIGKILL);
    ::waitpid(worker.pid, nullptr, 0);
    ::close(worker.pipe);
  }
}

void Crew::start(std::size_t number, const std::function<void(const Say&)>& work) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t pid = fork_bound();
  if (pid == 0) {
    ::close(ends[0]);
    work([pipe = ends[1]](const std::string& line) { write_all(pipe, line + "\n"); });
    std::_Exit(0);
  }
  ::close(ends[1]);
  workers_.push_back({.number = number, .pid = pid, .pipe = ends[0], .rest = {}});
}

std::vector<Crew::News> Crew::wait() {
  std::vector<pollfd> polled;
  for (const Worker& worker : workers_) polled.push_back({worker.pipe, POLLIN, 0});
  std::vector<News> news;
  if (polled.empty() || ::poll(polled.data(), polled.size(), -1) < 0) return news;
  for (std::size_t i = polled.size(); i-- > 0;) {
    if (polled[i].revents == 0) continue;
    Worker& worker = workers_[i];
    char buffer[65536];
    const ssize_t got = ::read(worker.pipe, buffer, sizeof buffer);
    if (got > 0) {
      worker.rest.append(buffer, static_cast<std::size_t>(got));
      for (std::size_t end; (end = worker.rest.find('\n')) != std::string::npos;
           worker.rest.erase(0, end + 1))
        news.push_back({.number = worker.number, .line = worker.rest.substr(0, end)});
      continue;
    }
    ::close(worker.pipe);
    news.push_back({.number = worker.number, .line = wait_for_end(worker.pid), .ended = true});
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return news;
}

}  // namespace berth::explore
