// SPDX-License-Identifier: Apache-2.0
#include "tests/support/exposition.h"

#include <cstdlib>
#include <sstream>

namespace berth::test {
namespace {

// Adds the label names of a series: name{a="x",b="y"}. Values have no quotes.
void note_labels(const std::string& series, std::set<std::string>& labels) {
  for (std::size_t at = series.find('{'); at != std::string::npos;
       at = series.find("\",", at + 1)) {
    const std::size_t begin = series.find_first_not_of("{\",", at);
    const std::size_t equals = series.find('=', at);
    if (begin == std::string::npos || equals == std::string::npos) return;
    const std::string name = series.substr(begin, equals - begin);
    if (name != "le") labels.insert(name);
  }
}

}  // namespace

Exposition::Exposition(const std::string& text) {
  std::istringstream lines(text);
  std::string family;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# TYPE ", 0) == 0) {
      std::istringstream words(line.substr(7));
      std::string type;
      words >> family >> type;
      families_[family].type = type;
      continue;
    }
    const std::size_t blank = line.rfind(' ');
    if (line.empty() || line.front() == '#' || blank == std::string::npos) continue;
    const std::string series = line.substr(0, blank);
    values_[series] = std::strtod(line.c_str() + blank, nullptr);
    note_labels(series, families_[family].labels);
  }
}

std::optional<double> Exposition::value(const std::string& series) const {
  const auto found = values_.find(series);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t Exposition::count(const std::string& beginning) const {
  std::size_t count = 0;
  for (auto it = values_.lower_bound(beginning);
       it != values_.end() && it->first.rfind(beginning, 0) == 0; ++it)
    ++count;
  return count;
}

}  // namespace berth::test
