// SPDX-License-Identifier: Apache-2.0
// FdSink: a spdlog sink that would rather lose lines than stop the controller: a reader that does
// not read (a stuck log agent behind a pipe) costs at most a short wait per line, and the lines
// lost are counted in the log once it flows again.
#pragma once

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

#include <cstdint>
#include <string_view>

namespace berth {

class FdSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit FdSink(int fd) : fd_(fd) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

 private:
  bool send(std::string_view text);
  bool wait_writable();

  int fd_;
  std::uint64_t lost_ = 0;
};

}  // namespace berth
