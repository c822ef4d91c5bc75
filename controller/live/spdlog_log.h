// SPDX-License-Identifier: Apache-2.0
// SpdlogLog: the Log that production writes to: lines of text or JSON on a file descriptor.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "controller/io/log.h"

namespace spdlog {
class logger;
}

namespace berth {

// The name that --log-level uses.
std::string_view name_of(LogLevel level);

enum class LogFormat { kText, kJson };

struct LogOptions {
  LogFormat format = LogFormat::kText;
  LogLevel level = LogLevel::kInfo;  // and higher levels
  int fd = 1;
};

class SpdlogLog : public Log {
 public:
  explicit SpdlogLog(const LogOptions& options);
  ~SpdlogLog() override;
  void set_level(LogLevel level);
  void write(LogLevel level, std::string_view message,
             std::initializer_list<Field> fields) override;

 private:
  LogFormat format_;
  std::unique_ptr<spdlog::logger> logger_;
};

}  // namespace berth
