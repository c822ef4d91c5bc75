// SPDX-License-Identifier: Apache-2.0
// Log: constant messages with key/values, from the shell only. Users read conditions, not logs.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace berth {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

// A field's value. Numbers and booleans keep their type in JSON, so that log queries can calculate
// with them.
struct LogValue {
  LogValue(bool truth) : text(truth ? "true" : "false"), is_text(false) {}
  template <class Number>
  requires(std::integral<Number> && !std::same_as<Number, bool> && !std::same_as<Number, char>)
      LogValue(Number number)
      : text(std::to_string(number)), is_text(false) {}
  template <class Text>
  requires(std::is_convertible_v<Text, std::string>) LogValue(Text&& text_)
      : text(std::forward<Text>(text_)) {}
  LogValue(std::string_view text_) : text(text_) {}

  std::string text;
  bool is_text = true;
};

class Log {
 public:
  using Field = std::pair<std::string_view, LogValue>;
  virtual ~Log() = default;
  // `message` is constant; variable parts are fields (kind, namespace, name, reconcile_id, error,
  // …). The sink escapes values, because they may hold any text that a user can write.
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
