// SPDX-License-Identifier: Apache-2.0
#include "controller/live/spdlog_log.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>

#include "apis/base/printable.h"
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

}  // namespace

// spdlog names one of the levels differently.
std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
      return "error";
  }
  return "info";
}

SpdlogLog::SpdlogLog(const LogOptions& options) : format_(options.format) {
  const char* pattern = format_ == LogFormat::kJson ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v})"
                                                    : "%Y-%m-%dT%H:%M:%S.%eZ %v";
  auto sink = std::make_shared<FdSink>(options.fd);
  sink->set_formatter(
      std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
  logger_ = std::make_unique<spdlog::logger>("berth", std::move(sink));
  logger_->set_level(spdlog_level(options.level));
}

SpdlogLog::~SpdlogLog() = default;

void SpdlogLog::set_level(LogLevel level) { logger_->set_level(spdlog_level(level)); }

void SpdlogLog::write(LogLevel level, std::string_view message,
                      std::initializer_list<Field> fields) {
  const spdlog::level::level_enum as = spdlog_level(level);
  if (!logger_->should_log(as)) return;
  const bool json = format_ == LogFormat::kJson;
  std::string line =
      json ? fmt::format(R"("level":"{}","message":{})", name_of(level), printable_quoted(message))
           : fmt::format("{:5} {}", name_of(level), message);
  for (const auto& [key, value] : fields) {
    if (value.text.empty()) continue;  // the empty error of a success
    line += json ? "," + printable_quoted(key) + ":" : " " + std::string(key) + "=";
    line += json && !value.is_text ? value.text : printable_quoted(value.text);
  }
  logger_->log(as, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace berth
