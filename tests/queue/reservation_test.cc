// SPDX-License-Identifier: Apache-2.0
// Rule 11: what is reserved for a head is free when it was reported to be, and work that ends
// before that does not wait for it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <set>

#include "controller/queue/cycle/admission_fact.h"
#include "controller/queue/cycle/cycle.h"
#include "controller/queue/facts/capped.h"
#include "tests/queue/cases.h"
#include "tests/queue/units.h"

namespace berth::queue::test {
namespace {

constexpr std::int64_t kSecond = 1'000'000;

class Cluster {
 public:
  Cluster(int nodes, int gpus, bool pins, std::optional<std::int64_t> reserve_after) {
    for (int i = 0; i < nodes; ++i)
      index.put(NodeFact{.name = fmt::format("n{}", i), .pool = "p", .offers = {{kGpu, gpus}}});
    QueueFact queue{.name = "q", .quotas = {{kGpu, "p", nodes * gpus, {}, {}}}, .pins = pins};
    queue.reserve_after = reserve_after;
    index.put(queue);
  }
  void submit(const std::string& name, int gpus, std::int64_t lasts, int pods = 1) {
    JobFact job{.workload = "Job/ns/" + name,
                .uid = name,
                .queue = "q",
                .created = now,
                .requests = {{kGpu, gpus}},
                .parallelism = pods,
                .lasts = lasts};
    jobs[job.workload] = job;
    index.put(job);
  }
  // The started workloads, and the reports for the others.
  std::vector<std::string> decide() {
    Cycle cycle(index, PreemptionTerms{.now = now, .may_go = {}, .slack = 0});
    cycle.run(100);
    told.clear();
    for (const auto& [name, job] : jobs) {
      const Workload* workload = index.find(name);
      if (workload->standing.pending) told[name] = cycle.why(*workload);
    }
    std::vector<AdmissionFact> begun;
    for (const Admission& admission : cycle.admissions())
      begun.push_back(admission_fact(admission, index));
    std::vector<std::string> names;
    for (const AdmissionFact& admission : begun) {
      JobFact& job = jobs.at("Job/ns/" + admission.uid);
      job.suspended = false;
      job.started = now;
      job.admitted = admission;
      job.admitted->since = now;
      index.put(job);
      told.erase(job.workload);
      names.push_back(job.uid);
    }
    return names;
  }
  void end(const std::string& name) {
    jobs.erase("Job/ns/" + name);
    index.remove_job("Job/ns/" + name);
  }
  Verdict why(const std::string& name) { return told.at("Job/ns/" + name); }

  FactsIndex index;
  std::map<std::string, JobFact> jobs;
  std::map<std::string, Verdict> told;
  std::int64_t now = kSecond;
};

using Names = std::vector<std::string>;

TEST(Reservation, IsForTheHeadThatHasWaitedAndFromWhenItFits) {
  Cluster c(1, 8, true, 60 * kSecond);
  c.submit("a", 4, 300 * kSecond);
  c.submit("b", 2, 100 * kSecond);
  EXPECT_EQ(c.decide(), (Names{"a", "b"}));
  c.submit("large", 6, 0);
  c.now += 59 * kSecond;
  c.submit("small", 1, 0);
  EXPECT_EQ(c.decide(), Names{"small"}) << "it has not waited for long enough";
  EXPECT_FALSE(c.why("large").reserved);
  c.now += kSecond;
  c.submit("late", 1, 0);
  EXPECT_EQ(c.decide(), Names{});
  EXPECT_EQ(c.why("large").reserved, 301 * kSecond) << "when the last ends that has to";
  EXPECT_EQ(c.why("late").reason, Reason::kReserved);
  EXPECT_EQ(*c.why("late").behind->name, "Job/ns/large");
}

TEST(Reservation, LetsThoseGoBeforeThatAreEndedInTime) {
  Cluster c(1, 8, true, 0);
  c.submit("a", 6, 300 * kSecond);
  EXPECT_EQ(c.decide(), Names{"a"});
  c.now += kSecond;
  c.submit("large", 8, 0);
  c.now += kSecond;
  c.submit("late", 1, 300 * kSecond), c.submit("in-time", 1, 284 * kSecond);
  EXPECT_EQ(c.decide(), Names{"in-time"});
  EXPECT_EQ(c.why("late").reason, Reason::kReserved);
  c.now = 301 * kSecond;
  c.end("a"), c.end("in-time");
  EXPECT_EQ(c.decide(), Names{"large"});
}

// Jobs with nearly equal deadlines are one class.
TEST(Reservation, SpansAreRoundedUpByASixteenthAtMost) {
  std::set<std::int64_t> coarse;
  for (std::int64_t span = 1; span < 4'000'000; span += 1 + span / 999) {
    const std::int64_t up = coarse_span(span);
    ASSERT_GE(up, span);
    ASSERT_LE(up - span, span / 16);
    ASSERT_EQ(coarse_span(up), up);
    coarse.insert(up);
  }
  EXPECT_LE(coarse.size(), 32u + 16u * 18u);
  EXPECT_EQ(coarse_span(0), 0);
  EXPECT_EQ(coarse_span(std::numeric_limits<std::int64_t>::max()), kMostOfAnything);
}

TEST(Reservation, WhereNobodySaysWhenHeEndsTheEmptiestNodeIsKept) {
  Cluster c(2, 8, true, 0);
  c.submit("a", 7, 0), c.submit("b", 4, 0), c.submit("c", 1, 0);
  c.decide();
  c.now += kSecond;
  c.submit("large", 8, 0);
  c.now += kSecond;
  c.submit("small", 1, kSecond);
  EXPECT_EQ(c.decide(), Names{}) << "when it begins nobody knows, so nobody goes before";
  EXPECT_EQ(c.why("large").reserved, 0);
  c.end("a");
  EXPECT_EQ(c.decide(), Names{"small"}) << "now the other node is emptier, and this one nobody's";
  c.end("c");
  EXPECT_EQ(c.decide(), Names{"large"});
}

TEST(Reservation, ThereIsOneForACohortAndPool) {
  Cluster c(1, 8, true, 0);
  c.submit("a", 4, 100 * kSecond);
  c.decide();
  c.now += kSecond;
  c.submit("large", 8, 0), c.submit("larger", 8, 50 * kSecond);
  c.decide();
  EXPECT_TRUE(c.why("large").reserved);
  EXPECT_FALSE(c.why("larger").reserved);
}

// Jobs come and go; a workload with a reported time has started by then.
TEST(Reservation, IsNeverDelayed) {
  const int plays = cases(2'600);
  std::int64_t kept = 0, before = 0;
  for (int play = 0; play < plays; ++play) {
    std::mt19937 random(static_cast<std::uint32_t>(play));
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const bool pins = below(2) == 0;
    const int nodes = 1 + below(3), gpus = 4 + 4 * below(2);
    Cluster c(nodes, gpus, pins, below(6));
    std::map<std::string, std::int64_t> promised;
    for (int step = 0; step < 40; ++step) {
      c.now += 1 + below(4);
      const auto jobs = c.jobs;
      for (const auto& [name, job] : jobs) {
        if (job.suspended) continue;
        const bool ends = job.lasts > 0 ? c.now >= job.started + job.lasts : false;
        if (ends || below(20) == 0) c.end(job.uid);
      }
      if (step < 25)
        c.submit(fmt::format("j{:02}", step), 1 + below(below(3) == 0 ? gpus : 2),
                 below(8) == 0 ? 0 : 1 + below(25), pins ? 1 : 1 + below(3));
      const Names begun = c.decide();
      for (const std::string& name : begun) {
        const auto told = promised.find(name);
        const bool late = told != promised.end() && c.now > told->second + 3;
        ASSERT_FALSE(late) << name << " play " << play << " step " << step;
        for (const auto& [other, verdict] : c.told)
          before += verdict.reserved && verdict.reason != Reason::kReserved ? 1 : 0;
      }
      for (const auto& [name, verdict] : c.told) {
        if (verdict.reason == Reason::kReserved || !verdict.reserved || *verdict.reserved == 0)
          continue;
        const std::string uid = c.jobs.at(name).uid;
        const auto [it, first] = promised.try_emplace(uid, *verdict.reserved);
        kept += first ? 1 : 0;
        it->second = std::min(it->second, *verdict.reserved);
        ASSERT_LT(c.now, it->second + 4) << uid << " waits still, play " << play;
      }
    }
  }
  EXPECT_GT(kept, plays / 4);
  EXPECT_GT(before, plays / 20) << "others went before";
}

}  // namespace
}  // namespace berth::queue::test
