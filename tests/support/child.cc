// SPDX-License-Identifier: Apache-2.0
#include "tests/support/child.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace berth::test {
namespace {

using std::chrono::milliseconds;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Child::Child(std::vector<std::string> argv, std::string log_file,
             std::vector<std::string> extra_env)
    : log_file_(std::move(log_file)), program_(argv.at(0)) {
  if (access(program_.c_str(), X_OK) != 0)
    throw std::runtime_error(
        fmt::format("{} is not an executable file: {}", program_, std::strerror(errno)));
  const int log = open(log_file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0)
    throw std::runtime_error(fmt::format("cannot write {}: {}", log_file_, std::strerror(errno)));

  // All allocations happen before the fork: other threads may hold the allocator's lock.
  std::vector<std::string> env;
  for (char** entry = environ; *entry != nullptr; ++entry) env.emplace_back(*entry);
  env.insert(env.end(), extra_env.begin(), extra_env.end());
  const std::vector<char*> argv_pointers = pointers(argv);
  const std::vector<char*> env_pointers = pointers(env);
  const pid_t parent = getpid();

  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // the parent died before the line above
    setpgid(0, 0);                        // the parent handles Ctrl-C in the terminal
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execve(argv_pointers[0], argv_pointers.data(), env_pointers.data());
    _exit(127);
  }
  close(log);
  if (pid_ < 0) throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
}

Child::~Child() {
  thaw();
  stop(milliseconds(3000));
}

bool Child::running() { return !wait(milliseconds(0)).has_value(); }

void Child::signal(int number) {
  if (running()) kill(pid_, number);
}

void Child::freeze() { signal(SIGSTOP); }

void Child::thaw() { signal(SIGCONT); }

void Child::kill_now() {
  signal(SIGKILL);
  wait(milliseconds(10000));
}

void Child::stop(milliseconds grace) {
  signal(SIGTERM);
  if (!wait(grace).has_value()) kill_now();
}

std::optional<int> Child::wait(milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!exit_code_.has_value()) {
    int status = 0;
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) {
      exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else if (ended < 0 && errno != EINTR) {
      exit_code_ = -1;
    } else if (std::chrono::steady_clock::now() >= deadline) {
      return std::nullopt;
    } else {
      std::this_thread::sleep_for(milliseconds(10));
    }
  }
  return exit_code_;
}

std::string Child::log_text() const {
  std::ifstream in(log_file_);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string Child::log_tail(std::size_t lines) const {
  const std::string text = log_text();
  std::size_t from = text.size();
  for (std::size_t seen = 0; from > 0; --from)
    if (text[from - 1] == '\n' && seen++ == lines) break;
  return text.substr(from);
}

int free_loopback_port() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  bool reserved = bind(listener, generic, length) == 0 && listen(listener, 1) == 0 &&
                  getsockname(listener, generic, &length) == 0;
  // If this side closes a connection first, the port stays in TIME_WAIT for a minute. The system
  // then gives it to no program that requests any port, but a server that requests this port gets
  // it.
  const int caller = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  reserved = reserved && connect(caller, generic, length) == 0;
  close(reserved ? accept4(listener, nullptr, nullptr, SOCK_CLOEXEC) : -1);
  close(caller);
  close(listener);
  if (!reserved) throw std::runtime_error("no free port on 127.0.0.1");
  return ntohs(address.sin_port);
}

}  // namespace berth::test
