// SPDX-License-Identifier: Apache-2.0
#include "controller/live/spdlog_log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>

#include "controller/live/fd_sink.h"

namespace berth {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// Length of the UTF-8 sequence that starts here, or 0 if none does.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies past U+10FFFF.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

void append_escape(std::string& out, unsigned code) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += "\\u00";
  out += kHex[code >> 4];
  out += kHex[code & 15];
}

}  // namespace

std::string quote_for_log(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    const auto second = static_cast<unsigned char>(text.size() > 1 ? text[1] : 0);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (first == '"' || first == '\\') {
      out += '\\';
      out += text[0];
    } else if (first == '\n') {
      out += "\\n";
    } else if (first < 0x20 || first == 0x7f) {
      append_escape(out, first);
    } else if (first == 0xc2 && second < 0xa0) {
      append_escape(out, second);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + '"';
}

SpdlogLog::SpdlogLog(const LogOptions& options) : format_(options.format) {
  const char* pattern = format_ == LogFormat::kJson
                            ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                            : "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v";
  auto sink = std::make_shared<FdSink>(options.fd);
  sink->set_formatter(
      std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
  logger_ = std::make_unique<spdlog::logger>("berth", std::move(sink));
  logger_->set_level(spdlog_level(options.level));
}

SpdlogLog::~SpdlogLog() = default;

void SpdlogLog::write(LogLevel level, std::string_view message,
                      std::initializer_list<Field> fields) {
  const spdlog::level::level_enum as = spdlog_level(level);
  if (!logger_->should_log(as)) return;
  const bool json = format_ == LogFormat::kJson;
  std::string line = json ? "\"message\":" + quote_for_log(message) : std::string(message);
  for (const auto& [key, value] : fields) {
    line += json ? "," + quote_for_log(key) + ":" : " " + std::string(key) + "=";
    line += quote_for_log(value);
  }
  logger_->log(as, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace berth
