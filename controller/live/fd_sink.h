// SPDX-License-Identifier: Apache-2.0
// FdSink: a spdlog sink that drops lines rather than block the controller. If the reader does not
// read (for example a stuck log agent behind a pipe), each line waits only briefly. Once the reader
// reads again, the log says how many lines were dropped.
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
