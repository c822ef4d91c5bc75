// SPDX-License-Identifier: Apache-2.0
#include "apis/base/time.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

namespace berth {
namespace {

using std::chrono::days;
using std::chrono::microseconds;
using std::chrono::milliseconds;

// Removes exactly `count` digits from the front of `text`.
std::optional<int> take_number(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// ".123456789": digits finer than a microsecond are dropped.
std::optional<microseconds> take_fraction(std::string_view& text) {
  std::int64_t value = 0;
  int digits = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    if (digits < 6) value = value * 10 + (text.front() - '0');
    ++digits;
    text.remove_prefix(1);
  }
  if (digits == 0) return std::nullopt;
  for (int i = digits; i < 6; ++i) value *= 10;
  return microseconds(value);
}

// "Z", "+02:00" or "-05:30", and no text after it.
std::optional<std::chrono::minutes> take_offset(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z')) return std::chrono::minutes(0);
  bool negative = take(text, '-');
  if (!negative && !take(text, '+')) return std::nullopt;
  auto hours = take_number(text, 2);
  if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
  auto minutes = take_number(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  std::chrono::minutes offset(*hours * 60 + *minutes);
  return negative ? -offset : offset;
}

std::optional<Time> read_time(std::string_view text) {
  auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  auto day = take_number(text, 2);
  if (!day || !(take(text, 'T') || take(text, 't'))) return std::nullopt;
  auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || !take(text, ':')) return std::nullopt;
  auto second = take_number(text, 2);
  if (!second || *second > 60) return std::nullopt;
  microseconds fraction(0);
  if (take(text, '.')) {
    auto read = take_fraction(text);
    if (!read) return std::nullopt;
    fraction = *read;
  }
  auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;

  std::chrono::year_month_day date{std::chrono::year(*year),
                                   std::chrono::month(static_cast<unsigned>(*month)),
                                   std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  const Time time = Time(std::chrono::sys_days(date)) + std::chrono::hours(*hour) +
                    std::chrono::minutes(*minute) + std::chrono::seconds(*second) + fraction -
                    *offset;
  // An offset may lead to a year that format_time() could not write.
  const int utc_year{std::chrono::year_month_day(std::chrono::floor<days>(time)).year()};
  return utc_year >= 0 && utc_year <= 9999 ? std::optional(time) : std::nullopt;
}

// Appends the last `digits` digits of the number.
void append_number(std::string& to, std::int64_t number, std::size_t digits) {
  to.resize(to.size() + digits);
  for (auto at = to.rbegin(); digits > 0; --digits, number /= 10)
    *at++ = static_cast<char>('0' + number % 10);
}

std::string format_seconds(Time time) {
  auto day = std::chrono::floor<days>(time);
  std::chrono::year_month_day date(day);
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time - day).count();
  std::string text;
  text.reserve(std::size("2026-11-21T14:22:49.123456Z"));
  if (const int year{date.year()}; year >= 0 && year <= 9999)
    append_number(text, year, 4);
  else  // times from protobuf may have such a year
    text += fmt::format("{:04}", year);
  append_number(text += '-', static_cast<unsigned>(date.month()), 2);
  append_number(text += '-', static_cast<unsigned>(date.day()), 2);
  append_number(text += 'T', seconds / 3600, 2);
  append_number(text += ':', seconds / 60 % 60, 2);
  append_number(text += ':', seconds % 60, 2);
  return text;
}

Error duration_error(std::string_view text, std::string_view advice) {
  return decode_error("", fmt::format("\"{}\" is not a duration: {}", text.substr(0, 64), advice));
}

// The milliseconds of one unit; 0 if the unit is unknown. Removes the unit from the front.
std::int64_t take_unit(std::string_view& text) {
  if (text.substr(0, 2) == "ms") {
    text.remove_prefix(2);
    return 1;
  }
  if (take(text, 's')) return 1000;
  if (take(text, 'm')) return 60 * 1000;
  if (take(text, 'h')) return 3600 * 1000;
  return 0;
}

}  // namespace

Result<Time> parse_time(std::string_view text) {
  if (auto time = read_time(text)) return *time;
  return decode_error("", fmt::format("\"{}\" is not a time: write it as 2026-11-21T14:22:49Z",
                                      text.substr(0, 64)));
}

std::string format_time(Time time) { return format_seconds(time) + "Z"; }

std::string format_micro_time(Time time) {
  auto fraction = (time - std::chrono::floor<std::chrono::seconds>(time)).count();
  std::string text = format_seconds(time) + ".";
  append_number(text, fraction, 6);
  return text += 'Z';
}

Result<Duration> parse_duration(std::string_view text) {
  constexpr std::string_view kAdvice = "write it in h, m, s and ms, as 90s, 20m or 1h30m";
  // Far above every limit of berth, and far from overflow: 2^53 ms are 285,000 years.
  constexpr std::int64_t kMax = std::int64_t{1} << 53;
  if (text.empty()) return duration_error(text, kAdvice);

  std::int64_t total = 0;
  for (std::string_view rest = text; !rest.empty();) {
    std::int64_t whole = 0, fraction = 0, scale = 1;
    std::size_t digits = 0;
    for (; !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; ++digits) {
      if (whole > kMax) return duration_error(text, "the number is too large");
      whole = whole * 10 + (rest.front() - '0');
      rest.remove_prefix(1);
    }
    if (digits == 0) return duration_error(text, kAdvice);
    if (take(rest, '.')) {
      std::size_t decimals = 0;
      for (; !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; ++decimals) {
        if (scale < 1'000'000'000) {
          fraction = fraction * 10 + (rest.front() - '0');
          scale *= 10;
        }
        rest.remove_prefix(1);
      }
      if (decimals == 0) return duration_error(text, kAdvice);
    }
    if (!rest.empty() && (rest.front() == 'd' || rest.front() == 'w')) {
      return duration_error(text, "there is no unit for days or weeks; write hours, as 24h for 1d");
    }
    std::int64_t unit = take_unit(rest);
    if (unit == 0) return duration_error(text, kAdvice);
    if (whole > kMax / unit) return duration_error(text, "the number is too large");
    total += whole * unit + fraction * unit / scale;
    if (total > kMax) return duration_error(text, "the number is too large");
  }
  return Duration(total);
}

std::string format_duration(Duration duration) {
  std::int64_t ms = duration.count();
  std::string sign = ms < 0 ? "-" : "";
  std::uint64_t n = ms < 0 ? 0 - static_cast<std::uint64_t>(ms) : static_cast<std::uint64_t>(ms);
  if (n == 0) return "0s";
  if (n < 1000) return fmt::format("{}{}ms", sign, n);
  std::string seconds = fmt::format("{}", n / 1000 % 60);
  if (n % 1000 != 0) {
    seconds += fmt::format(".{:03}", n % 1000);
    while (seconds.back() == '0') seconds.pop_back();
  }
  std::uint64_t hours = n / 3'600'000, minutes = n / 60'000 % 60;
  if (hours > 0) return fmt::format("{}{}h{}m{}s", sign, hours, minutes, seconds);
  if (minutes > 0) return fmt::format("{}{}m{}s", sign, minutes, seconds);
  return sign + seconds + "s";
}

std::string format_duration_short(Duration duration) {
  std::string text = format_duration(duration);
  auto drop = [&text](std::string_view zero) {
    // "1h0m0s" → "1h": removes a zero only right after a unit, so that "10s" keeps its zero.
    if (text.size() > zero.size() && std::string_view(text).ends_with(zero)) {
      char before = text[text.size() - zero.size() - 1];
      if (before == 'h' || before == 'm') text.resize(text.size() - zero.size());
    }
  };
  drop("0s");
  drop("0m");
  return text;
}

}  // namespace berth
