// SPDX-License-Identifier: Apache-2.0
// Which workloads rule 9 preempts, compared with every other choice: up to six gangs on four nodes.
// No victim could have been spared; and if there is none, no choice would have helped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "controller/queue/cycle/cycle.h"
#include "tests/queue/cases.h"
#include "tests/queue/preemption_facts.h"

namespace berth::queue::test {
namespace {

using Names = std::set<std::string>;

// One workload is pending, all others run.
class Choice {
 public:
  explicit Choice(unsigned seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) facts_.add_node(fmt::format("n{}", i), free_[i] = 1 + below(3));
    const bool pins = chance(70);
    for (int i = 0; i < 3; ++i) {
      QueueFact& queue = facts_.add_queue(fmt::format("q{}", i), below(6));
      queue.pins = pins;
      if (chance(20)) queue.quotas[0].borrowing_limit = below(4);
      if (chance(20)) queue.quotas[0].lending_limit = below(3);
    }
    for (int i = 0; i < 6; ++i) add_gang(i);
    facts_.add_waiting("waits", queue(), 1 + below(2), below(3), 1 + below(3));
  }
  const LittleCluster& facts() const { return facts_; }

  // The choice of the engine.
  std::optional<Names> displaced() const {
    FactsIndex index;
    fill(facts_, index);
    Cycle cycle(index, PreemptionTerms{.now = kNow});
    cycle.run(1000);
    if (cycle.admissions().empty()) return std::nullopt;
    Names names;
    for (const Ahead& ahead : cycle.admissions()[0].ahead) names.insert(*ahead.workload->name);
    return names;
  }
  // Whether it would be admitted once these were gone.
  bool suffice(const Names& gone) const {
    LittleCluster then = facts_;
    std::erase_if(then.jobs, [&](const JobFact& job) { return gone.contains(job.workload); });
    std::erase_if(then.pods, [&](const PodFact& pod) { return gone.contains(pod.workload); });
    FactsIndex index;
    fill(then, index);
    Cycle cycle(index);
    cycle.run(1000);
    return !cycle.admissions().empty();
  }
  // Whether these may be preempted together.
  bool is_allowed(const Names& victims) const {
    const JobFact& waits = facts_.jobs.back();
    std::int64_t used = gpus_of(waits);
    bool reclaims = false;
    for (const JobFact& job : facts_.jobs) {
      const bool own = job.queue == waits.queue, goes = victims.contains(job.workload);
      if (own && !goes && &job != &waits) used += gpus_of(job);
      if (!goes) continue;
      reclaims = reclaims || !own;
      const bool is_funded = funded(job.queue).contains(job.workload);
      if (own && (job.priority >= waits.priority || (is_funded && !would_fund()))) return false;
      if (!own && is_funded) return false;
    }
    return !reclaims || used <= nominal(waits.queue);
  }
  Names runners() const {
    Names names;
    for (const JobFact& job : facts_.jobs)
      if (!job.suspended) names.insert(job.workload);
    return names;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  std::string queue() { return fmt::format("q{}", below(3)); }

  // If there is free capacity for its pods; each pod gets a random node.
  void add_gang(int i) {
    const int gpus = 1 + below(2);
    std::vector<std::string> on;
    for (int pod = 0, pods = 1 + below(3); pod < pods; ++pod) {
      const int node = below(4);
      if (free_[node] < gpus) continue;
      free_[node] -= gpus;
      on.push_back(fmt::format("n{}", node));
    }
    if (!on.empty()) facts_.add_running(fmt::format("g{}", i), queue(), gpus, on, below(3));
  }
  static std::int64_t gpus_of(const JobFact& job) {
    return job.requests[0].second * job.parallelism;
  }
  std::int64_t nominal(const std::string& queue) const {
    return std::ranges::find(facts_.queues, queue, &QueueFact::name)->quotas[0].nominal;
  }
  // The workloads within the nominal quota, by priority, then by admission.
  Names funded(const std::string& queue, std::int32_t at_least = 0) const {
    Names names;
    std::int64_t used = 0;
    for (std::int32_t priority = 2; priority >= at_least; --priority)
      for (const JobFact& job : facts_.jobs) {
        if (job.queue != queue || job.suspended || job.priority != priority) continue;
        if (used + gpus_of(job) > nominal(queue)) continue;
        used += gpus_of(job);
        names.insert(job.workload);
      }
    return names;
  }
  bool would_fund() const {
    const JobFact& waits = facts_.jobs.back();
    std::int64_t used = gpus_of(waits);
    const Names before = funded(waits.queue, waits.priority);
    for (const JobFact& job : facts_.jobs)
      if (before.contains(job.workload)) used += gpus_of(job);
    return used <= nominal(waits.queue);
  }

  std::mt19937 random_;
  std::map<int, std::int64_t> free_;
  LittleCluster facts_;
};

// All subsets, including the empty one and the whole.
std::vector<Names> subsets(const Names& names) {
  std::vector<Names> sets{{}};
  for (const std::string& name : names)
    for (std::size_t i = 0, n = sets.size(); i < n; ++i) {
      sets.push_back(sets[i]);
      sets.back().insert(name);
    }
  return sets;
}

TEST(Victims, AreSuchThatNobodyIsDisplacedInVain) {
  const int n = cases(1'500);
  int displacing = 0, several = 0, helpless = 0;
  for (int seed = 0; seed < n; ++seed) {
    const Choice choice(static_cast<unsigned>(seed));
    const std::string told = fmt::format("seed {}\n{}", seed, test::print(choice.facts()));
    const std::optional<Names> displaced = choice.displaced();
    if (!displaced) {
      ++helpless;
      for (const Names& others : subsets(choice.runners()))
        ASSERT_FALSE(choice.is_allowed(others) && choice.suffice(others))
            << fmt::format("{} would have helped\n", fmt::join(others, " ")) << told;
      continue;
    }
    if (displaced->empty()) continue;  // it had free capacity
    ++displacing;
    several += displaced->size() > 1;
    ASSERT_TRUE(choice.is_allowed(*displaced) && choice.suffice(*displaced)) << told;
    for (const Names& fewer : subsets(*displaced)) {
      if (fewer == *displaced) continue;
      ASSERT_FALSE(choice.is_allowed(fewer) && choice.suffice(fewer))
          << fmt::format("{} would have sufficed\n", fmt::join(fewer, " ")) << told;
    }
  }
  EXPECT_GT(displacing, n / 10);
  EXPECT_GT(several, n / 50);
  EXPECT_GT(helpless, n / 10);
}

}  // namespace
}  // namespace berth::queue::test
