// SPDX-License-Identifier: Apache-2.0
// RecordingLog: keeps the log, one line each: "warn message key=value key=value".
#pragma once

#include <string>
#include <vector>

#include "controller/io/log.h"

namespace berth {

class RecordingLog : public Log {
 public:
  void write(LogLevel level, std::string_view message,
             std::initializer_list<Field> fields) override {
    static constexpr const char* kNames[] = {"debug", "info", "warn", "error"};
    std::string line = kNames[static_cast<int>(level)];
    line.append(" ").append(message);
    for (const auto& [key, value] : fields)
      line.append(" ").append(key).append("=").append(value.text);
    lines.push_back(std::move(line));
  }
  std::vector<std::string> lines;
};

}  // namespace berth
