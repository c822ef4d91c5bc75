// SPDX-License-Identifier: Apache-2.0
#include "tests/kueue/random_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace berth::kueue {
namespace {

using queue::JobFact;
using queue::NodeFact;
using queue::QueueFact;
using queue::QuotaFact;
using queue::test::ClusterFacts;

constexpr const char* kGpu = "nvidia.com/gpu";
constexpr const char* kPool = "training";

NodeFact room_for_all() {
  return {.name = "n0",
          .pool = kPool,
          .offers = {{kGpu, 1'000'000}},
          .gpu_weights = {{kGpu, kWholeGpu}}};
}

std::int64_t asked(const JobFact& job) { return job.requests.front().second * job.parallelism; }

// How much its queue would borrow for it, or already borrows for others.
std::int64_t borrowed_for(const JobFact& job, const QueueFact& queue, const ClusterFacts& facts) {
  if (queue.quotas.empty()) return 0;
  std::int64_t used = asked(job);
  for (const JobFact& other : facts.jobs) {
    if (other.admitted && other.queue == queue.name) used += asked(other);
  }
  return used - queue.quotas.front().nominal;
}

}  // namespace

QueueFact RandomCase::some_queue(int i) {
  QueueFact fact{.name = fmt::format("q{}", i),
                 .cohort = chance(70)   ? "c0"
                           : chance(70) ? "c1"
                                        : "",
                 .strict_fifo = chance(30),
                 .held = chance(4)};
  constexpr std::int64_t kWeights[] = {0, 500, 700, 1500, 2000, 3000};
  if (chance(50)) fact.weight_thousandths = kWeights[below(6)];
  fact.pins = false;           // as Kueue does without topologies
  if (chance(3)) return fact;  // no quota at all
  QuotaFact quota{.resource = kGpu, .pool = kPool, .nominal = below(13)};
  if (chance(45)) quota.lending_limit = below(static_cast<int>(quota.nominal) + 1);
  if (!fact.cohort.empty() && chance(30)) quota.borrowing_limit = below(6);
  fact.quotas.push_back(quota);
  return fact;
}

JobFact RandomCase::some_job(const std::string& name, const std::string& queue) {
  JobFact fact{.workload = name,
               .uid = "uid-" + name,
               .queue = queue,
               .priority = below(3),
               .created = ages_.back() * 1'000'000,
               .requests = {{kGpu, 1 + below(chance(85) ? 4 : 10)}},
               .parallelism = 1 + (chance(75) ? 0 : below(4))};
  ages_.pop_back();
  fact.completions = fact.parallelism;
  return fact;
}

// Usually nearly up to its nominal quota, or a little above: then it borrows, or its quota was
// lowered.
void RandomCase::run_some(const QueueFact& queue, ClusterFacts& facts) {
  if (queue.quotas.empty()) return;
  std::int64_t left = queue.quotas.front().nominal + (chance(25) ? below(5) : -below(5));
  for (int i = 0, n = below(8); i < n; ++i) {
    JobFact fact = some_job(fmt::format("{}-runs-{}", queue.name, i), queue.name);
    if (asked(fact) > left) continue;
    left -= asked(fact);
    fact.suspended = false;
    fact.admitted = {.queue = queue.name,
                     .cohort = queue.cohort,
                     .pool = kPool,
                     .pods = fact.parallelism,
                     .amounts = {{kGpu, asked(fact)}}};
    facts.jobs.push_back(fact);
  }
}

ClusterFacts RandomCase::cluster() {
  ages_.resize(100);
  std::iota(ages_.begin(), ages_.end(), 1);
  std::shuffle(ages_.begin(), ages_.end(), random_);
  ClusterFacts facts{.nodes = {room_for_all()}};
  for (int i = 0, n = 2 + below(6); i < n; ++i) facts.queues.push_back(some_queue(i));
  for (const QueueFact& fact : facts.queues) {
    run_some(fact, facts);
    if (chance(90)) facts.jobs.push_back(some_job(fact.name + "-waits", fact.name));
  }
  return facts;
}

bool has_tie_by_rounding(const ClusterFacts& facts) {
  const auto queue_of = [&](const JobFact& job) {
    return std::find_if(facts.queues.begin(), facts.queues.end(),
                        [&](const QueueFact& queue) { return queue.name == job.queue; });
  };
  for (const JobFact& a : facts.jobs) {
    for (const JobFact& b : facts.jobs) {
      const auto of_a = queue_of(a), of_b = queue_of(b);
      if (a.admitted || b.admitted || of_a->cohort != of_b->cohort || of_a->cohort.empty())
        continue;
      const std::int64_t over_a = borrowed_for(a, *of_a, facts);
      const std::int64_t over_b = borrowed_for(b, *of_b, facts);
      const std::int64_t weight_a = of_a->weight_thousandths, weight_b = of_b->weight_thousandths;
      if (over_a > 0 && over_b > 0 && weight_a != weight_b && weight_a > 0 && weight_b > 0 &&
          over_a * weight_b == over_b * weight_a)
        return true;
    }
  }
  return false;
}

}  // namespace berth::kueue
