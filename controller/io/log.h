// SPDX-License-Identifier: Apache-2.0
// Log: constant messages with key/values, from the shell only. Users read conditions, not logs.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

class Log {
 public:
  using Field = std::pair<std::string_view, std::string>;
  virtual ~Log() = default;
  // `message` is a constant; what varies goes into fields (kind, namespace, name, reconcile_id,
  // error, …). Values are escaped by the sink: they may hold anything a user can write.
  virtual void write(LogLevel level, std::string_view message,
                     std::initializer_list<Field> fields) = 0;

  void debug(std::string_view m, std::initializer_list<Field> f = {}) {
    write(LogLevel::kDebug, m, f);
  }
  void info(std::string_view m, std::initializer_list<Field> f = {}) {
    write(LogLevel::kInfo, m, f);
  }
  void warn(std::string_view m, std::initializer_list<Field> f = {}) {
    write(LogLevel::kWarn, m, f);
  }
  void error(std::string_view m, std::initializer_list<Field> f = {}) {
    write(LogLevel::kError, m, f);
  }
};

}  // namespace berth
