// SPDX-License-Identifier: Apache-2.0
#include "controller/live/system_host.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace berth {
namespace {

constexpr std::size_t kMaxFileBytes = 16u << 20;

// O_NONBLOCK: opening a pipe without a writer must not block the loop.
class File {
 public:
  explicit File(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::optional<std::string> SystemHost::env(const std::string& name) const {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

FileText SystemHost::read_file(const std::string& path) const {
  const File file(path);
  if (file.fd() < 0) {
    return {.missing = errno == ENOENT || errno == ENOTDIR, .error = std::strerror(errno)};
  }
  std::string text;
  char buffer[16384];
  while (true) {
    const ssize_t count = ::read(file.fd(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {.error = std::strerror(errno)};
    if (count == 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > kMaxFileBytes) return {.error = "larger than 16 MiB"};
  }
  return {.text = std::move(text)};
}

}  // namespace berth
