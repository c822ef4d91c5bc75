// SPDX-License-Identifier: Apache-2.0
// StartScore: how much of what was told of starts came true, and how much it said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/queue/start_replay.h"

namespace berth::queue::test {

// Of what is scored alike: the first that each workload was told, or what stands in statuses at any
// time, so that who waits for longer counts for more.
class StartScore {
 public:
  void add(const ToldStart& told);
  double ranges_share() const;  // of all that was told
  double held_share() const;    // of all ranges
  // Of the middle range; of the middle one of all waits that they were told of. In minutes.
  double width() const;
  double wait() const;
  std::string text() const;

 private:
  int told_ = 0, held_ = 0, early_ = 0, late_ = 0;
  std::vector<std::int64_t> widths_, waits_;
};

struct StartScores {
  StartScore first, standing;
  // But for the first of all, of which nobody knows yet how long those before took.
  void add(const std::vector<ToldStart>& of_a_day);
};

}  // namespace berth::queue::test
