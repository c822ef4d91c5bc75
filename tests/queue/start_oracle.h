// SPDX-License-Identifier: Apache-2.0
// StartOracle: what can be said of starts at best, to tell what is missed from what nobody could
// know. It projects as berth does, but it has been told what a replayed day draws from: how often
// and of which kinds others come, and which part of what they declare a team's Jobs take; and, if
// it is to, how long each that is there will run. Who comes, it knows no better than anybody.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "controller/queue/start_estimates.h"

namespace berth::queue::test {

class StartOracle {
 public:
  // So many microseconds pass on average until somebody comes. The index is as it was, but knows
  // the classes of all who may.
  StartOracle(FactsIndex& index, bool one_queue, double between);

  // Those of `run_times` run for so long.
  StartEstimates estimates(std::int64_t now,
                           const std::map<std::string, std::int64_t>& run_times) const;

 private:
  void add_kind(const JobFact& fact, FactsIndex& index);

  const FactsIndex& index_;
  double between_;
  std::deque<std::string> names_;
  std::deque<Workload> kinds_;
};

}  // namespace berth::queue::test
