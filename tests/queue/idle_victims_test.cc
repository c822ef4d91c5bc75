// SPDX-License-Identifier: Apache-2.0
// Which idle GPUs are reclaimed, compared with every other choice: up to six gangs on four nodes,
// some of them idle. The pending work must be able to use what is freed; and if nothing is
// reclaimed, no other choice would have helped.
#include <fmt/format.h>
#include <gmock/gmock.h>
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

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Names = std::set<std::string>;

PreemptionTerms terms_of(const FactsIndex& index, const Names& idle, const Names& yields = {}) {
  return {.now = kNow,
          .idle =
              [&index, idle] {
                std::vector<IdleWork> found;
                for (const std::string& name : idle)
                  if (const Workload* workload = index.find(name))
                    found.push_back({.workload = workload, .since = 1, .due = 2});
                return found;
              },
          .yields = [yields](const Workload& workload) { return yields.contains(*workload.name); }};
}

// The admissions in order: "waits", or "waits < a b" with the workloads reclaimed for it.
std::vector<std::string> decided(const FactsIndex& index, PreemptionTerms terms) {
  Cycle cycle(index, std::move(terms));
  cycle.run(1000);
  std::vector<std::string> lines;
  for (const Admission& admission : cycle.admissions()) {
    std::string line = *admission.workload->name;
    for (const Ahead& ahead : admission.ahead)
      if (ahead.evicted) line += " < " + *ahead.workload->name;
    lines.push_back(line);
  }
  return lines;
}

// One workload is pending, all others run; no queue preempts.
class Choice {
 public:
  explicit Choice(unsigned seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) facts_.add_node(fmt::format("n{}", i), free_[i] = 1 + below(4));
    const bool pins = chance(70);
    for (int i = 0; i < 3; ++i) {
      QueueFact& queue = facts_.add_queue(fmt::format("q{}", i), below(8));
      queue.pins = pins;
      queue.preemption = {};
      if (chance(30)) queue.cohort.clear();
      if (chance(20)) queue.quotas[0].borrowing_limit = below(4);
    }
    for (int i = 0; i < 6; ++i) add_gang(i);
    facts_.add_waiting("waits", queue(), 1 + below(3), below(3), 1 + below(3));
  }
  const LittleCluster& facts() const { return facts_; }
  const Names& idle() const { return idle_; }

  std::optional<Names> taken() const {
    FactsIndex index;
    fill(facts_, index);
    Cycle cycle(index, terms_of(index, idle_));
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
  std::pair<std::int64_t, std::size_t> cost(const Names& names) const {
    std::int64_t gpus = 0;
    for (const JobFact& job : facts_.jobs)
      if (names.contains(job.workload)) gpus += job.requests[0].second * job.parallelism;
    return {gpus, names.size()};
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  std::string queue() { return fmt::format("q{}", below(3)); }
  void add_gang(int i) {
    const int gpus = 1 + below(2);
    std::vector<std::string> on;
    for (int pod = 0, pods = 1 + below(3); pod < pods; ++pod) {
      const int node = below(4);
      if (free_[node] < gpus) continue;
      free_[node] -= gpus;
      on.push_back(fmt::format("n{}", node));
    }
    if (on.empty()) return;
    JobFact& job = facts_.add_running(fmt::format("g{}", i), queue(), gpus, on, below(3));
    const auto of = std::ranges::find(facts_.queues, job.queue, &QueueFact::name);
    job.admitted->cohort = of->cohort;
    if (chance(60)) idle_.insert(job.workload);
  }

  std::mt19937 random_;
  std::map<int, std::int64_t> free_;
  LittleCluster facts_;
  Names idle_;
};

std::vector<Names> subsets(const Names& names) {
  std::vector<Names> sets{{}};
  for (const std::string& name : names)
    for (std::size_t i = 0, n = sets.size(); i < n; ++i) {
      sets.push_back(sets[i]);
      sets.back().insert(name);
    }
  return sets;
}

TEST(IdleVictims, FreeExactlyWhatTheWaitingWorkCanUse) {
  const int n = cases(1'500);
  int taking = 0, several = 0, helpless = 0;
  for (int seed = 0; seed < n; ++seed) {
    const Choice choice(static_cast<unsigned>(seed));
    const std::string told = fmt::format("seed {}, idle {}\n{}", seed,
                                         fmt::join(choice.idle(), " "), print(choice.facts()));
    const std::optional<Names> taken = choice.taken();
    if (taken && taken->empty()) continue;  // it had free capacity
    taking += taken.has_value();
    several += taken && taken->size() > 1;
    helpless += !taken;
    if (taken) {
      ASSERT_TRUE(choice.suffice(*taken)) << told;
      ASSERT_TRUE(std::ranges::includes(choice.idle(), *taken)) << told;
    }
    for (const Names& others : subsets(choice.idle())) {
      if (!choice.suffice(others)) continue;
      ASSERT_TRUE(taken) << fmt::format("{} would have helped\n", fmt::join(others, " ")) << told;
      ASSERT_LE(choice.cost(*taken), choice.cost(others))
          << fmt::format("{} and not {}\n", fmt::join(*taken, " "), fmt::join(others, " ")) << told;
    }
  }
  EXPECT_GT(taking, n / 10);
  EXPECT_GT(several, n / 50);
  EXPECT_GT(helpless, n / 10);
}

class Idle : public ::testing::Test {
 protected:
  Idle() {
    facts.add_node("n0", 4);
    facts.add_queue("a", 4).preemption = {};
    facts.add_queue("b", 4).preemption = {};
  }
  std::vector<std::string> decide(const Names& idle, const Names& yields = {}) {
    FactsIndex index;
    fill(facts, index);
    return decided(index, terms_of(index, idle, yields));
  }
  LittleCluster facts;
};

// Eight GPUs for four: the second workload needs no further reclaim.
TEST_F(Idle, OneGoesForAllThatFitInItsPlace) {
  facts.add_node("n1", 4);
  facts.add_running("large", "a", 4, {"n0"});
  facts.add_running("small", "a", 2, {"n1"});
  facts.add_running("works", "a", 2, {"n1"});
  facts.add_waiting("first", "b", 3);
  facts.add_waiting("second", "b", 1);
  EXPECT_THAT(decide({"large", "small"}), ElementsAre("first < large", "second"));
}

TEST_F(Idle, NobodyGoesForWorkThatHasNoQuota) {
  facts.queues[1].quotas[0].nominal = 0;
  facts.queues[1].quotas[0].borrowing_limit = 0;
  facts.add_running("idle", "a", 4, {"n0"});
  facts.add_waiting("waits", "b", 1);
  EXPECT_THAT(decide({"idle"}), IsEmpty());
}

TEST_F(Idle, MinimumRuntimesHold) {
  facts.add_running("idle", "a", 4, {"n0"});
  facts.add_waiting("waits", "b", 1);
  facts.queues[1].preemption.others_after = kNow + 1;
  FactsIndex index;
  fill(facts, index);
  Cycle cycle(index, terms_of(index, {"idle"}));
  cycle.run(1000);
  EXPECT_THAT(cycle.admissions(), IsEmpty());
  EXPECT_EQ(cycle.again(), kNow + 1);
}

// The workload that yields is older, and of the same class.
TEST_F(Idle, WhoeverYieldsIsPassedOverAndTellsWhyHeWaits) {
  facts.add_running("idle", "a", 4, {"n0"});
  facts.add_waiting("yields", "b", 2);
  facts.add_waiting("younger", "b", 2);
  EXPECT_THAT(decide({"idle"}), ElementsAre("yields < idle", "younger"));
  EXPECT_THAT(decide({"idle"}, {"yields"}), ElementsAre("younger < idle"));
  facts.queues[1].strict_fifo = true;
  EXPECT_THAT(decide({"idle"}, {"yields"}), IsEmpty()) << "nobody gets past it there";
  facts.jobs.pop_back();
  facts.queues[1].strict_fifo = false;
  FactsIndex index;
  fill(facts, index);
  Cycle cycle(index, terms_of(index, {"idle"}, {"yields"}));
  cycle.run(1000);
  EXPECT_THAT(cycle.admissions(), IsEmpty());
  EXPECT_EQ(cycle.why(*index.find("yields")).reason, Reason::kWaitingForRoom);
}

// It may not preempt either, whatever its priority and its queue's rules.
TEST_F(Idle, WhoeverYieldsDisplacesNobody) {
  facts.queues[0].preemption = {.own = true, .others = Reclaims::kAny};
  facts.add_running("lower", "a", 4, {"n0"});
  facts.add_waiting("yields", "a", 4, 2);
  EXPECT_THAT(decide({}), ElementsAre("yields < lower"));
  EXPECT_THAT(decide({}, {"yields"}), IsEmpty());
}

}  // namespace
}  // namespace berth::queue::test
