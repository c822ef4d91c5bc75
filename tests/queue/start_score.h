// SPDX-License-Identifier: Apache-2.0
// StartScore: how many forecasts of starts came true, and how precise they were.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/queue/start_replay.h"

namespace berth::queue::test {

// Scores of one kind: the first forecast of each workload, or the forecasts in statuses at any
// time, where long waits count more.
class StartScore {
 public:
  void add(const ToldStart& told);
  double ranges_share() const;  // of all forecasts
  double held_share() const;    // of all ranges
  // The median width of ranges, and the median wait of their workloads. In minutes.
  double width() const;
  double wait() const;
  std::string text() const;

 private:
  int told_ = 0, held_ = 0, early_ = 0, late_ = 0;
  std::vector<std::int64_t> widths_, waits_;
};

struct StartScores {
  StartScore first, standing;
  // The first Jobs are left out, because no run times are known yet.
  void add(const std::vector<ToldStart>& of_a_day);
};

}  // namespace berth::queue::test
