// SPDX-License-Identifier: Apache-2.0
#include "apis/base/cron.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace berth {
namespace {

constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"sun", "mon", "tue", "wed",
                                                    "thu", "fri", "sat"};

struct CronField {
  const char* noun;
  const char* values;  // for the error
  unsigned min;
  unsigned max;
  std::span<const std::string_view> names;  // for min, min + 1, …
};

constexpr std::array<CronField, 5> kFields{{
    {"minute", "0 to 59", 0, 59, {}},
    {"hour", "0 to 23", 0, 23, {}},
    {"day of the month", "1 to 31", 1, 31, {}},
    {"month", "1 to 12 or jan to dec", 1, 12, kMonths},
    {"weekday", "0 to 7 or sun to sat", 0, 7, kWeekdays},
}};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0;;) {
    const std::size_t end = text.find(separator, from);
    parts.push_back(text.substr(from, end - from));
    if (end == std::string_view::npos) return parts;
    from = end + 1;
  }
}

std::optional<unsigned> read_number(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<unsigned> read_value(std::string_view text, const CronField& field) {
  const std::string name = lower(text);
  for (std::size_t i = 0; i < field.names.size(); ++i) {
    if (name == field.names[i]) return field.min + static_cast<unsigned>(i);
  }
  std::optional<unsigned> value = read_number(text);
  if (value && (*value < field.min || *value > field.max)) return std::nullopt;
  return value;
}

Error not_a(std::string_view text, const CronField& field) {
  return decode_error("", fmt::format("\"{}\" is not a valid {}: write {}", text.substr(0, 32),
                                      field.noun, field.values));
}

// "*", "5", "1-5", "*/15", "1-5/2" or "3/2", which means from 3 to the field's maximum.
Result<std::uint64_t> parse_part(std::string_view part, const CronField& field) {
  std::string_view range = part;
  unsigned step = 1;
  const std::size_t slash = part.find('/');
  if (slash != std::string_view::npos) {
    range = part.substr(0, slash);
    const std::optional<unsigned> read = read_number(part.substr(slash + 1));
    if (!read || *read == 0 || *read > 99)
      return decode_error(
          "", fmt::format("\"{}\" needs a step from 1 to 99 after the slash", part.substr(0, 32)));
    step = *read;
  }
  unsigned first = field.min, last = field.max;
  if (range != "*" && range != "?") {
    const std::size_t dash = range.find('-');
    const std::optional<unsigned> from = read_value(range.substr(0, dash), field);
    if (!from) return not_a(range.substr(0, dash), field);
    first = *from;
    if (dash != std::string_view::npos) {
      const std::optional<unsigned> to = read_value(range.substr(dash + 1), field);
      if (!to) return not_a(range.substr(dash + 1), field);
      if (*to < first)
        return decode_error(
            "", fmt::format("\"{}\" runs backwards: write it as two, with a comma between them",
                            range));
      last = *to;
    } else if (slash == std::string_view::npos) {
      last = first;
    }
  }
  std::uint64_t bits = 0;
  for (unsigned value = first; value <= last; value += step) bits |= std::uint64_t{1} << value;
  return bits;
}

Result<std::uint64_t> parse_field(std::string_view text, const CronField& field) {
  std::uint64_t bits = 0;
  for (std::string_view part : split(text, ',')) {
    Result<std::uint64_t> read = parse_part(part, field);
    if (!read) return read;
    bits |= *read;
  }
  return bits;
}

bool ever_fires(const CronSchedule& schedule) {
  constexpr std::array<unsigned, 12> kDays{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (unsigned month = 1; month <= 12; ++month) {
    // Over the years each date falls on each weekday, also 29 February.
    for (unsigned day = 1; day <= kDays[month - 1]; ++day) {
      for (unsigned weekday = 0; weekday < 7; ++weekday) {
        if (schedule.fires_on(month, day, weekday)) return true;
      }
    }
  }
  return false;
}

}  // namespace

bool CronSchedule::fires_on(unsigned month, unsigned day, unsigned weekday) const {
  if ((months >> month & 1) == 0) return false;
  const bool on_day = (days >> day & 1) != 0, on_weekday = (weekdays >> weekday & 1) != 0;
  return any_day || any_weekday ? on_day && on_weekday : on_day || on_weekday;
}

Result<CronSchedule> parse_cron(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  if (words.size() != kFields.size()) {
    return decode_error("", fmt::format("has {} fields; cron takes five: minute, hour, day of the "
                                        "month, month and weekday, as \"0 22 * * sat\"",
                                        words.size()));
  }
  std::array<std::uint64_t, kFields.size()> bits{};
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    Result<std::uint64_t> read = parse_field(words[i], kFields[i]);
    if (!read) return std::move(read).error();
    bits[i] = *read;
  }
  const auto is_any = [](std::string_view word) { return word[0] == '*' || word[0] == '?'; };
  CronSchedule schedule{.minutes = bits[0],
                        .hours = static_cast<std::uint32_t>(bits[1]),
                        .days = static_cast<std::uint32_t>(bits[2]),
                        .months = static_cast<std::uint16_t>(bits[3]),
                        .weekdays = static_cast<std::uint8_t>((bits[4] | bits[4] >> 7) & 0x7F),
                        .any_day = is_any(words[2]),
                        .any_weekday = is_any(words[4])};
  if (!ever_fires(schedule))
    return decode_error("", "never fires: no month that it names has such a day");
  return schedule;
}

}  // namespace berth
