// SPDX-License-Identifier: Apache-2.0
// A cycle that looks ahead offers only workloads that may fit by then. It must decide as a cycle
// that offers all workloads again after each end.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "controller/queue/cycle/cycle.h"
#include "controller/queue/starts/arrivals.h"
#include "tests/queue/random_facts.h"

namespace berth::queue::test {
namespace {

constexpr std::size_t kAnyNumber = 1'000'000;

// One of two cycles with the same ends and arrivals.
class AheadCycle {
 public:
  explicit AheadCycle(const FactsIndex& index) : cycle_(index, LookingAhead{kAnyNumber}) {
    cycle_.run(kAnyNumber);
    bind();
  }
  void go_on() {
    cycle_.run_again();
    if (bind()) cycle_.run_again();
    bind();
  }
  // Makes the cycle try all pending workloads again, by returning quota everywhere.
  void offer_all_again() {
    for (QueueQuotas& queue : cycle_.quotas().queues())
      for (Quota& quota : queue.quotas) quota.use(1), quota.use(-1);
  }
  std::string text() const {
    std::string out;
    for (const Admission& admission : cycle_.admissions()) {
      out += *admission.workload->name + " in " + std::to_string(admission.pool) + " on";
      for (const auto& [shape, node] : admission.nodes) out += " " + std::to_string(node);
      out += "\n";
    }
    return out;
  }
  Cycle& operator*() { return cycle_; }

 private:
  bool bind() {
    bool some = false;
    for (; bound_ < cycle_.admissions().size(); ++bound_) cycle_.bind(bound_), some = true;
    return some;
  }
  Cycle cycle_;
  std::size_t bound_ = 0;
};

std::vector<const Workload*> running_of(const FactsIndex& index) {
  std::vector<const Workload*> all;
  for (const auto& [queue, of] : index.running())
    for (const Workload* workload : of)
      if (!workload->standing.leaves) all.push_back(workload);
  std::ranges::sort(all, ByName());
  return all;
}

std::vector<Arrivals::Kind> kinds_of(const FactsIndex& index) {
  std::vector<Arrivals::Kind> kinds;
  for (const auto& [name, workload] : index.workloads())
    if (workload.job && workload.standing.pending)
      kinds.push_back({&workload, workload.standing.workload_class});
  std::ranges::sort(kinds, ByName(), &Arrivals::Kind::like);
  return kinds;
}

TEST(CycleAhead, DecidesAsIfAllWereOfferedAgain) {
  int begun_later = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    RandomFacts random(seed);
    const ClusterFacts facts = random.cluster();
    FactsIndex index;
    fill(facts, index);
    AheadCycle sparing(index), plain(index);
    ASSERT_EQ(sparing.text(), plain.text());
    const std::size_t at_once = (*sparing).admissions().size();

    const Arrivals arrivals(kinds_of(index), 100, 100);
    Arrivals::Stream coming(arrivals, seed);
    std::vector<const Workload*> running = running_of(index);
    std::ranges::shuffle(running, std::mt19937_64(seed));
    std::vector<std::size_t> ended;
    for (int round = 0; round < 10; ++round) {
      if (coming.next_at() < 1'000'000 && random.chance(40)) {
        const Workload& comes = coming.take();
        (*sparing).arrive(comes), (*plain).arrive(comes);
      }
      const std::size_t begun = (*sparing).admissions().size();
      if (!running.empty()) {
        (*sparing).end(*running.back()), (*plain).end(*running.back());
        running.pop_back();
      } else if (ended.size() < begun) {
        const std::size_t ends = ended.size();
        (*sparing).end(ends), (*plain).end(ends);
        ended.push_back(ends);
      }
      sparing.go_on();
      plain.offer_all_again(), plain.go_on();
      ASSERT_EQ(sparing.text(), plain.text()) << "seed " << seed << " round " << round << "\n"
                                              << print(facts);
    }
    begun_later += static_cast<int>((*sparing).admissions().size() - at_once);
  }
  EXPECT_GT(begun_later, 300) << "cases in which something happens";
}

}  // namespace
}  // namespace berth::queue::test
