// SPDX-License-Identifier: Apache-2.0
// Random small cohorts for which docs/queue-rules.md and Kueue have the same rules: one pool with
// free capacity for all, one resource, no preemption, at most one pending workload per queue, and
// no equal ages.
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

// Whether two pending workloads of one cohort have the same share by different weights: an exact
// tie in berth, and in Kueue's floating point decided by rounding.
bool has_tie_by_rounding(const queue::test::ClusterFacts& facts);

}  // namespace berth::kueue
