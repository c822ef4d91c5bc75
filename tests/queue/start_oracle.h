// SPDX-License-Identifier: Apache-2.0
// StartOracle: the best possible forecast, to distinguish avoidable errors from unknowable facts.
// It projects as berth does, but knows the distributions of the replayed day: how often which Jobs
// arrive, and which part of the declared run time a team's Jobs use. On request it also knows the
// run time of each present Job. It does not know who arrives next.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "controller/queue/starts/start_estimates.h"

namespace berth::queue::test {

class StartOracle {
 public:
  // `between`: the average time between arrivals, in microseconds. The index is unchanged, except
  // that it then knows the classes of all possible Jobs.
  StartOracle(FactsIndex& index, bool one_queue, double between);

  // `run_times`: known run times of some Jobs.
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
