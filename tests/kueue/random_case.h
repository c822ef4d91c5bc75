// SPDX-License-Identifier: Apache-2.0
// Small cohorts at random, of which docs/queue-rules.md and Kueue mean the same: one pool with room
// for all, one resource, no preemption, at most one workload waiting in a queue, nobody as old as
// another.
#pragma once

#include <random>

#include "tests/queue/cluster_facts.h"

namespace berth::kueue {

class RandomCase {
 public:
  explicit RandomCase(std::uint64_t seed) : random_(seed) {}
  queue::test::ClusterFacts cluster();

 private:
  queue::QueueFact some_queue(int i);
  queue::JobFact some_job(const std::string& name, const std::string& queue);
  void run_some(const queue::QueueFact& queue, queue::test::ClusterFacts& facts);

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

  std::mt19937_64 random_;
  std::vector<std::int64_t> ages_;
};

// Whether two workloads that wait in one cohort have the same share by different weights: an exact
// tie in berth, and in Kueue's floating point whatever rounding makes of it.
bool has_tie_by_rounding(const queue::test::ClusterFacts& facts);

}  // namespace berth::kueue
