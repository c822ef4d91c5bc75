// SPDX-License-Identifier: Apache-2.0
// Exposition: Prometheus' text format read back, as far as berth writes it.
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
  // By its name and labels as they are written: `a_total{result="done"}`; nothing: not there.
  std::optional<double> value(const std::string& series) const;
  // How many series begin so.
  std::size_t count(const std::string& beginning) const;

 private:
  std::map<std::string, MetricFamily> families_;
  std::map<std::string, double> values_;
};

}  // namespace berth::test
