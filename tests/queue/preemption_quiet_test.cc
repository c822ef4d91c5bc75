// SPDX-License-Identifier: Apache-2.0
// Without arrivals, preemption comes to an end and is never useless: random small clusters,
// simulated to rest with events in any order.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "tests/queue/cases.h"
#include "tests/queue/preemption_facts.h"
#include "tests/queue/preemption_play.h"

namespace berth::queue::test {
namespace {

class RandomCluster {
 public:
  explicit RandomCluster(unsigned seed) : random_(seed) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }

  LittleCluster make() {
    pools_ = 1 + (chance(25) ? 1 : 0);
    has_mig_ = chance(20);
    for (int i = 0, n = 2 + below(chance(70) ? 1 : 3); i < n; ++i) add_node(i);
    queues_ = 2 + below(2);
    for (int i = 0; i < 8; ++i)
      if (chance(20)) facts_.kept.insert(fmt::format("PodGroup/ns/g{}", i));
    for (int i = 0; i < queues_; ++i) add_queue(i);
    const bool pins = chance(75);
    for (QueueFact& queue : facts_.queues) queue.pins = pins;
    return std::exchange(facts_, {});
  }
  // Jobs and groups for that cluster.
  LittleCluster make_work(int from, int to) {
    for (int i = from; i < to; ++i) chance(75) ? add_job(i) : add_group(i);
    return std::exchange(facts_, {});
  }

 private:
  std::string pool(int i) const { return i == 0 ? "training" : "inference"; }
  std::string rules() { return chance(25) ? "fussy" : ""; }

  void add_node(int i) {
    facts_.add_node(fmt::format("n{}", i), 1 + below(3), pool(i % pools_));
    if (has_mig_) facts_.nodes.back().offers.emplace_back(kMig, 1 + below(2));
    if (chance(50)) facts_.refusals.insert({"fussy", facts_.nodes.back().name});
  }
  void add_queue(int i) {
    QueueFact& queue = facts_.add_queue(fmt::format("q{}", i), 0);
    queue.quotas.clear();
    for (int p = 0; p < pools_; ++p)
      for (const char* resource : {kGpu, kMig}) {
        if (resource == kMig && !has_mig_) continue;
        QuotaFact& quota = queue.quotas.emplace_back(
            QuotaFact{.resource = resource, .pool = pool(p), .nominal = below(4)});
        if (chance(20)) quota.borrowing_limit = below(3);
        if (chance(20)) quota.lending_limit = below(static_cast<int>(quota.nominal) + 1);
      }
    if (chance(15)) queue.cohort = "other";
    queue.strict_fifo = chance(20);
    PreemptionFact& rules = queue.preemption;
    if (chance(20)) rules.own = false;
    if (chance(25)) rules.others = static_cast<Reclaims>(below(3));
    if (chance(20)) rules.own_after = below(20);
    if (chance(20)) rules.others_after = below(20);
    rules.stays_may_borrow = chance(40);
  }
  Amounts requests() {
    if (has_mig_ && chance(30)) return {{kMig, 1}};
    if (has_mig_ && chance(20)) return {{kGpu, 1}, {kMig, 1}};
    return {{kGpu, 1 + below(2)}};
  }
  void add_job(int i) {
    JobFact& job = facts_.add_waiting(fmt::format("Job/ns/j{}", i), queue(), 1, below(3),
                                      1 + below(chance(60) ? 1 : 3));
    job.requests = requests();
    job.rules = rules();
  }
  void add_group(int i) {
    const PodFact pod{.workload = fmt::format("PodGroup/ns/g{}", i),
                      .queue = queue(),
                      .priority = below(3),
                      .created = i,
                      .group_size = 1 + below(2),
                      .stays = chance(15),
                      .rules = rules(),
                      .requests = requests()};
    for (int member = 0; member < pod.group_size; ++member) {
      facts_.pods.push_back(pod);
      facts_.pods.back().uid = fmt::format("g{}-{}", i, member);
    }
  }
  std::string queue() { return fmt::format("q{}", below(queues_)); }

  std::mt19937 random_;
  LittleCluster facts_;
  int pools_ = 1, queues_ = 2;
  bool has_mig_ = false;
};

std::string print(const std::vector<PreemptionPlay::Decision>& decisions) {
  std::string text;
  for (const auto& [workload, displaced] : decisions)
    text += fmt::format("{} for {}\n", workload, fmt::join(displaced, " "));
  return text;
}

TEST(Quiet, ComesWhereNobodyArrivesAndEveryPreemptorIsPlaced) {
  std::size_t displaced = 0;
  for (int seed = 0; seed < cases(2'500); ++seed) {
    RandomCluster random(static_cast<unsigned>(seed));
    const LittleCluster facts = random.make();
    PreemptionPlay play(facts, [&](std::size_t n) {
      return static_cast<std::size_t>(random.below(static_cast<int>(n)));
    });
    const int old = 2 + random.below(2);
    play.arrive(random.make_work(0, old));
    play.run(10 + random.below(40));
    play.arrive(random.make_work(old, old + 2 + random.below(3)));
    const std::string before = test::print(play.facts());
    const bool rests = play.run(2'000);
    const std::string told = fmt::format("seed {}\n{}{}", seed, before, print(play.decisions()));
    ASSERT_TRUE(rests) << told;
    ASSERT_TRUE(play.faults().empty()) << play.faults().front() << "\n" << told;
    for (const auto& decision : play.decisions()) displaced += decision.displaced.size();
    if (!facts.queues.front().pins) continue;
    ASSERT_TRUE(play.facts().ledger.empty()) << told;
    for (const PodFact& pod : play.facts().pods)
      ASSERT_NE(pod.state, PodState::kReleased) << pod.workload << " has no node\n" << told;
  }
  EXPECT_GT(displaced, static_cast<std::size_t>(cases(2'500)) / 6) << "plays with something to see";
}

}  // namespace
}  // namespace berth::queue::test
