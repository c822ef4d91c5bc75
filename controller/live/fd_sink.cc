// SPDX-License-Identifier: Apache-2.0
#include "controller/live/fd_sink.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace berth {
namespace {

constexpr int kPatienceMs = 50;

}  // namespace

void FdSink::sink_it_(const spdlog::details::log_msg& message) {
  if (lost_ > 0) {
    const std::string note =
        "{\"message\":\"log lines were lost\",\"count\":" + std::to_string(lost_) + "}\n";
    if (!send(note)) {
      ++lost_;
      return;
    }
    lost_ = 0;
  }
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  if (!send(std::string_view(line.data(), line.size()))) ++lost_;
}

// Writes in pieces that a writable pipe accepts whole, so that write() does not block.
bool FdSink::send(std::string_view text) {
  while (!text.empty()) {
    if (!wait_writable()) return false;
    const std::string_view piece = text.substr(0, PIPE_BUF);
    const ssize_t written = ::write(fd_, piece.data(), piece.size());
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// After a loss it does not wait until the reader is back: it has waited once already.
bool FdSink::wait_writable() {
  pollfd wanted{fd_, POLLOUT, 0};
  return ::poll(&wanted, 1, lost_ > 0 ? 0 : kPatienceMs) > 0 && (wanted.revents & POLLOUT) != 0;
}

}  // namespace berth
