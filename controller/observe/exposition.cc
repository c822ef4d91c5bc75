// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/exposition.h"

#include <charconv>
#include <deque>
#include <limits>
#include <optional>
#include <string>

namespace berth {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// The rest of a line after the name: "{label="value",…} number [timestamp]".
class SeriesLine {
 public:
  explicit SeriesLine(std::string_view rest) : rest_(rest) {}

  // False: the line is no series.
  bool read_labels(LabelViews& out) {
    out.clear();
    unescaped_.clear();
    if (!take('{')) return true;
    while (!take('}')) {
      if (out.size() == kMaxLabels) return false;
      const std::size_t equals = rest_.find('=');
      if (equals == std::string_view::npos) return false;
      const std::string_view name = trim(rest_.substr(0, equals));
      rest_.remove_prefix(equals + 1);
      const std::optional<std::string_view> value = read_quoted();
      if (name.empty() || !value) return false;
      out.emplace_back(name, *value);
      if (!take(',') && !rest_.starts_with('}')) return false;
    }
    return true;
  }

  std::optional<double> read_value() {
    rest_ = trim(rest_);
    const std::string_view token = rest_.substr(0, rest_.find_first_of(" \t"));
    if (token == "NaN") return kNan;
    if (token == "+Inf" || token == "-Inf") return kNan;
    const char* end = token.data() + token.size();
    double value = 0;
    const auto [stop, error] =
        std::from_chars(token.data() + (token.starts_with('+') ? 1 : 0), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
  }

 private:
  bool take(char expected) {
    rest_ = trim(rest_);
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    rest_ = trim(rest_);
    return true;
  }

  std::optional<std::string_view> read_quoted() {
    if (!take('"')) return std::nullopt;
    std::size_t end = 0;
    bool escaped = false;
    for (; end < rest_.size() && rest_[end] != '"'; ++end) {
      if (rest_[end] != '\\') continue;
      escaped = true;
      ++end;
    }
    if (end >= rest_.size()) return std::nullopt;
    const std::string_view raw = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return escaped ? unescape(raw) : raw;
  }

  std::string_view unescape(std::string_view raw) {
    std::string& text = unescaped_.emplace_back();
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '\\' && i + 1 < raw.size())
        text += raw[++i] == 'n' ? '\n' : raw[i];
      else
        text += raw[i];
    }
    return text;
  }

  std::string_view rest_;
  std::deque<std::string> unescaped_;  // a deque, because its strings do not move while it grows
};

}  // namespace

Result<std::size_t> read_exposition(std::string_view text, const OnSeries& on_series) {
  const bool empty = trim(text).empty();
  std::size_t series = 0;
  LabelViews labels;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const std::size_t name_end = std::min(line.find_first_of("{ \t"), line.size());
    const CounterInfo* counter = find_counter(line.substr(0, name_end));
    SeriesLine rest(line.substr(name_end));
    if (!rest.read_labels(labels)) continue;
    const std::optional<double> value = rest.read_value();
    if (!value) continue;
    if (++series > kMaxSeriesOfNode)
      return decode_error("", "has more series than a node can have");
    if (counter != nullptr) on_series(*counter, labels, *value);
  }
  if (series == 0 && !empty) return decode_error("", "is not Prometheus' text format");
  return series;
}

}  // namespace berth
