// SPDX-License-Identifier: Apache-2.0
// The engine against the reference model, decision by decision; and the index against itself: with
// events in any order, and updated against newly built.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "controller/queue/cycle/admission_fact.h"
#include "controller/queue/cycle/cycle.h"
#include "controller/queue/record/admission_record.h"
#include "tests/queue/cases.h"
#include "tests/queue/model.h"
#include "tests/queue/random_facts.h"

namespace berth::queue::test {
namespace {

// A gang that is admitted before all its pods exist.
bool goes_early(const std::string& admitted, const ClusterFacts& facts) {
  const std::string workload = admitted.substr(0, admitted.find(' '));
  std::int64_t pods = 0, size = 0;
  for (const PodFact& pod : facts.pods)
    if (pod.workload == workload) ++pods, size = pod.group_size;
  return pods < size;
}

TEST(RandomCases, TheEngineDecidesAsTheModel) {
  const int n = cases(4'000);
  std::size_t admitted = 0, early = 0, to_come = 0, awaits = 0;
  std::map<std::string, int> reasons;
  for (int seed = 0; seed < n; ++seed) {
    RandomFacts random(static_cast<std::uint64_t>(seed));
    const ClusterFacts facts = random.cluster();
    const std::size_t window =
        random.chance(20) ? 1 + static_cast<std::size_t>(random.below(2)) : 1000;
    FactsIndex index;
    fill(facts, index);
    // Some gangs are incomplete for longer than other workloads wait for them.
    const std::int64_t now = 10 + (random.chance(40) ? 60'000'000 - random.below(12) : 0);
    const Outcome engine = decide(index, window, now, facts.kept);
    const Outcome model = decide_by_the_book(facts, window, now);
    ASSERT_TRUE(engine == model) << print(engine) << "but by the book\n"
                                 << print(model) << "seed " << seed << " window " << window << "\n"
                                 << print(facts);
    admitted += engine.admitted.size();
    for (const std::string& line : engine.admitted) early += goes_early(line, facts);
    for (const std::string& line : engine.admitted) to_come += line.ends_with("to come");
    for (const std::string& line : engine.admitted) awaits += line.find(" awaits ") != line.npos;
    for (const auto& [workload, line] : engine.waiting) ++reasons[line.substr(0, line.find(' '))];
  }
  EXPECT_GT(admitted, static_cast<std::size_t>(n) / 2) << "cases in which something happens";
  EXPECT_GT(early, static_cast<std::size_t>(n) / 200) << "gangs that start fast";
  EXPECT_GT(to_come, static_cast<std::size_t>(n) / 20) << "work for nodes that are yet to come";
  EXPECT_GT(awaits, static_cast<std::size_t>(n) / 400) << "admissions that wait for others to go";
  EXPECT_EQ(reasons.size(), 22u) << "every reason is met: " << testing::PrintToString(reasons);
}

// The use of each queue's quotas.
std::map<std::string, std::vector<std::int64_t>> used(QuotaTable& table) {
  std::map<std::string, std::vector<std::int64_t>> told;
  for (const QueueQuotas& queue : table.queues())
    for (const Quota& quota : queue.quotas) told[queue.fact->name].push_back(quota.used);
  return told;
}

// Some of its pods exist already, of a Job's last run or created without review; they are charged
// too.
bool has_a_past(const Workload& workload) {
  if (workload.job && workload.job->admitted) return true;
  if (!workload.pods) return false;
  return !workload.pods->admitted.empty() ||
         std::ranges::any_of(workload.pods->shapes, [](const auto& entry) {
           const Members& members = entry.second;
           return members.released + members.bound + members.leaving > 0;
         });
}

// The next cycle starts from the ledger, which must show what this cycle has given away.
TEST(RandomCases, WhatIsRecordedIsWhatWasCharged) {
  std::size_t recorded = 0;
  for (int seed = 0; seed < cases(4'000) / 4; ++seed) {
    RandomFacts random(static_cast<std::uint64_t>(seed) + 3'000'000);
    const ClusterFacts facts = random.cluster();
    FactsIndex index;
    fill(facts, index);
    std::vector<LedgerFact> ledger;
    bool comparable = true;
    std::map<std::string, std::vector<std::int64_t>> charged;
    {
      Cycle cycle(index);
      cycle.run(1000);
      charged = used(cycle.quotas());
      for (const Admission& admission : cycle.admissions()) {
        const auto read = decode_admission(encode_admission(admission_fact(admission, index)));
        ASSERT_TRUE(read.has_value());
        comparable &= !has_a_past(*admission.workload);
        ledger.push_back({.workload = *admission.workload->name, .admission = *read});
      }
    }
    if (!comparable) continue;
    for (const LedgerFact& entry : ledger) index.put(entry);
    QuotaTable table(index);
    ASSERT_EQ(used(table), charged) << "seed " << seed << "\n" << print(facts);
    recorded += ledger.size();
  }
  EXPECT_GT(recorded, static_cast<std::size_t>(cases(4'000)) / 10);
}

// All kinds of facts in any order, also before the facts that they refer to.
TEST(Index, LeavesNoTraceOfTheOrderOfFacts) {
  for (int seed = 0; seed < cases(4'000) / 4; ++seed) {
    RandomFacts random(static_cast<std::uint64_t>(seed) + 1'000'000);
    const ClusterFacts facts = random.cluster();
    FactsIndex index;
    fill(facts, index);
    FactsIndex other;
    std::vector<std::function<void()>> events;
    for (const auto& fact : facts.nodes) events.push_back([&] { other.put(fact); });
    for (const auto& [rules, node] : facts.refusals)
      events.push_back([&] { other.refuse(rules, node, true); });
    events.push_back([&] { other.put(facts.topology); });
    events.push_back([&] { other.put(facts.elastic); });
    for (const auto& fact : facts.queues) events.push_back([&] { other.put(fact); });
    for (const auto& fact : facts.jobs) events.push_back([&] { other.put(fact); });
    for (const auto& fact : facts.pods) events.push_back([&] { other.put(fact); });
    for (const auto& fact : facts.ledger) events.push_back([&] { other.put(fact); });
    for (const auto& fact : facts.restarts) events.push_back([&] { other.put(fact); });
    for (std::size_t i = events.size(); i > 1; --i)
      std::swap(events[i - 1], events[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
    for (const auto& event : events) event();
    ASSERT_EQ(text_of(other), text_of(index)) << "seed " << seed << "\n" << print(facts);
    ASSERT_EQ(print(decide(other, 1000)), print(decide(index, 1000))) << "seed " << seed;
  }
}

// The present facts of each kind, by name.
struct Present {
  std::map<std::string, NodeFact> nodes;
  std::map<std::string, QueueFact> queues;
  std::map<std::string, JobFact> jobs;
  std::map<std::string, PodFact> pods;
  std::map<std::string, LedgerFact> ledger;
  std::map<std::string, RestartFact> restarts;
  TopologyFact topology;
  ElasticFact elastic;
  std::set<std::pair<std::string, std::string>> refusals;

  ClusterFacts facts() const {
    ClusterFacts facts;
    facts.topology = topology;
    facts.elastic = elastic;
    facts.refusals = refusals;
    for (const auto& [name, fact] : nodes) facts.nodes.push_back(fact);
    for (const auto& [name, fact] : queues) facts.queues.push_back(fact);
    for (const auto& [name, fact] : jobs) facts.jobs.push_back(fact);
    for (const auto& [name, fact] : pods) facts.pods.push_back(fact);
    for (const auto& [name, fact] : ledger) facts.ledger.push_back(fact);
    for (const auto& [name, fact] : restarts) facts.restarts.push_back(fact);
    return facts;
  }
};

// One change: a fact is added, changed or removed.
void change(RandomFacts& random, Present& present, FactsIndex& index) {
  const bool goes = random.chance(35);
  const auto apply = [&](auto& map, auto fact, const std::string& name, auto remove) {
    if (goes) {
      map.erase(name);
      remove(name);
    } else {
      index.put(fact);
      map[name] = fact;
    }
  };
  switch (random.below(9)) {
    case 0: {
      const NodeFact fact = random.node(random.below(5));
      return apply(present.nodes, fact, fact.name, [&](auto& name) { index.remove_node(name); });
    }
    case 1: {
      const QueueFact fact = random.queue(random.below(4));
      return apply(present.queues, fact, fact.name, [&](auto& name) { index.remove_queue(name); });
    }
    case 2: {
      const JobFact fact = random.job(random.below(9));
      return apply(present.jobs, fact, fact.workload, [&](auto& name) { index.remove_job(name); });
    }
    case 3: {
      const PodFact fact = random.pod(random.below(9));
      return apply(present.pods, fact, fact.uid, [&](auto& name) { index.remove_pod(name); });
    }
    case 4:
      return index.put(present.topology = random.topology());
    case 5:
      return index.put(present.elastic = random.elastic());
    case 6: {
      const auto refusal = random.refusal();
      index.refuse(refusal.first, refusal.second, !goes);
      if (goes)
        present.refusals.erase(refusal);
      else
        present.refusals.insert(refusal);
      return;
    }
    case 7: {
      const RestartFact fact = random.restart();
      return apply(present.restarts, fact, fact.workload,
                   [&](auto& name) { index.remove_restart(name); });
    }
    default: {
      const LedgerFact fact = random.ledger();
      return apply(present.ledger, fact, fact.workload,
                   [&](auto& name) { index.remove_ledger(name); });
    }
  }
}

TEST(Index, KeptIsRebuilt) {
  const int n = cases(4'000) / 80;
  for (int seed = 0; seed < n; ++seed) {
    RandomFacts random(static_cast<std::uint64_t>(seed) + 2'000'000);
    FactsIndex kept;
    Present present;
    for (int step = 0; step < 60; ++step) {
      change(random, present, kept);
      FactsIndex rebuilt;
      fill(present.facts(), rebuilt);
      ASSERT_EQ(text_of(kept), text_of(rebuilt)) << "seed " << seed << " step " << step << "\n"
                                                 << print(present.facts());
    }
    ASSERT_EQ(print(decide(kept, 1000)), print(decide_by_the_book(present.facts(), 1000)))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace berth::queue::test
