// SPDX-License-Identifier: Apache-2.0
// Exposition: parses Prometheus' text format, as far as berth writes it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

namespace berth::test {

struct MetricFamily {
  std::string type;              // counter, gauge, histogram
  std::set<std::string> labels;  // names that any series has; a histogram's `le` is left out
};

class Exposition {
 public:
  explicit Exposition(const std::string& text);

  const std::map<std::string, MetricFamily>& families() const { return families_; }
  // By name and labels as written: `a_total{result="done"}`; nullopt: there is no such series.
  std::optional<double> value(const std::string& series) const;
  // The number of series whose text begins with `beginning`.
  std::size_t count(const std::string& beginning) const;

 private:
  std::map<std::string, MetricFamily> families_;
  std::map<std::string, double> values_;
};

}  // namespace berth::test
