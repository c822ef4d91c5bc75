// SPDX-License-Identifier: Apache-2.0
// The expected starts of pending workloads, and what berth reports where they are unknown.
#include "controller/queue/starts/start_estimates.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/queue/full_queues.h"
#include "tests/queue/units.h"

namespace berth::queue::test {
namespace {

using ::testing::HasSubstr;

// A round time, so that coarse and exact times are equal.
constexpr std::int64_t kNow = 29'736'000 * kMinute;

class StartEstimatesTest : public ::testing::Test {
 protected:
  void add_node(const std::string& name, int gpus = 8) {
    index.put(NodeFact{.name = name, .pool = "p", .offers = {{kGpu, gpus}}});
  }
  void add_queue(const std::string& name, int gpus, bool strict_fifo = false,
                 const std::string& cohort = "") {
    index.put(QueueFact{.name = name,
                        .cohort = cohort,
                        .quotas = {{kGpu, "p", gpus, {}, {}}},
                        .strict_fifo = strict_fifo});
  }
  // Minutes; 0: it declares no run time.
  JobFact job(const std::string& name, int gpus, std::int64_t minutes, int pods) {
    return {.workload = "Job/team/" + name,
            .uid = name,
            .queue = "q",
            .created = ++created,
            .requests = {{kGpu, gpus}},
            .parallelism = pods,
            .lasts = minutes * kMinute};
  }
  void run(const std::string& name, const std::vector<std::string>& nodes, int gpus,
           std::int64_t minutes, std::int64_t since) {
    begin(job(name, gpus, minutes, static_cast<int>(nodes.size())), nodes, gpus, since);
  }
  void begin(JobFact fact, const std::vector<std::string>& nodes, int gpus, std::int64_t since) {
    const int pods = static_cast<int>(nodes.size());
    const std::string name = fact.uid;
    fact.suspended = false;
    fact.started = kNow - since * kMinute;
    fact.admitted = AdmissionFact{.uid = name,
                                  .queue = "q",
                                  .pool = "p",
                                  .pods = pods,
                                  .amounts = {{kGpu, pods * gpus}},
                                  .since = fact.started,
                                  .nodes = nodes};
    index.put(fact);
    for (const std::string& node : nodes)
      index.put(PodFact{.uid = name + "-" + node,
                        .workload = fact.workload,
                        .requests = {{kGpu, gpus}},
                        .state = PodState::kBound,
                        .node = node});
  }
  void wait(const std::string& name, int gpus, std::int64_t minutes, int pods = 1) {
    index.put(job(name, gpus, minutes, pods));
  }
  // It arrived so many minutes ago and started at once.
  void come(const std::string& name, const std::string& node, int gpus, std::int64_t minutes,
            std::int64_t ago) {
    JobFact fact = job(name, gpus, minutes, 1);
    fact.created = kNow - ago * kMinute;
    index.put(fact);
    begin(fact, {node}, gpus, ago);
  }
  void finish(double share, int times, const char* team = "team") {
    for (int i = 0; i < times; ++i) {
      berth::Job done;
      done.meta.namespace_ = team;
      done.active_deadline_seconds = 1000;
      done.start_time = Time();
      done.finished_at = Time() + std::chrono::seconds(static_cast<int>(1000 * share));
      shares.follow({.now = &done});
    }
  }
  std::optional<StartEstimate> estimate(const std::string& name,
                                        std::size_t tries = StartEstimates::kManyTries) {
    return StartEstimates(index, shares, kNow, tries).find(*index.find("Job/team/" + name));
  }
  // "20-50": minutes from now, rounded outwards.
  std::string told(const std::string& name) {
    const auto of = estimate(name);
    if (!of) return "nothing";
    const auto minutes = [&](std::optional<std::int64_t> at) {
      return at ? fmt::format("{}", (*at - kNow) / kMinute) : "?";
    };
    const StartEstimate rough = coarse(*of, kNow);
    return minutes(rough.earliest) + "-" + minutes(rough.latest);
  }

  FactsIndex index;
  RunShares shares;
  std::int64_t created = 0;
};

TEST_F(StartEstimatesTest, WhatRunsEndsAfterWhatItHasDeclaredAtTheLatest) {
  add_node("n1"), add_queue("q", 8);
  run("runs", {"n1"}, 8, 60, 10);
  wait("next", 8, 60), wait("last", 8, 60);
  EXPECT_EQ(told("next"), "0-50") << "nobody knows yet how long others take";
  EXPECT_LE(*estimate("last")->latest, kNow + 110 * kMinute);
  EXPECT_GT(*estimate("last")->latest, *estimate("next")->latest);
}

TEST_F(StartEstimatesTest, WhatHasFinishedSaysHowMuchOfThatIsTaken) {
  add_node("n1"), add_queue("q", 8);
  run("runs", {"n1"}, 8, 100, 10);
  wait("next", 8, 100), wait("last", 8, 100);
  finish(0.51, 1000);
  EXPECT_EQ(told("next"), "40-45");
  EXPECT_GE(*estimate("last")->earliest, kNow + 90 * kMinute);
  EXPECT_LE(*estimate("last")->latest, kNow + 97 * kMinute);
}

// Two Jobs each use a tenth or all of their time; hardly ever both use all.
TEST_F(StartEstimatesTest, EachNamespaceTakesWhatItsOwnJobsTook) {
  add_node("n1"), add_node("n2");
  add_queue("q", 8), add_queue("r", 8);
  run("runs", {"n1"}, 8, 100, 10);
  JobFact other = job("runs", 8, 100, 1);
  other.workload = "Job/other/runs", other.uid = "other-runs", other.queue = "r";
  other.suspended = false;
  other.started = kNow - 10 * kMinute;
  other.admitted = AdmissionFact{.uid = other.uid,
                                 .queue = "r",
                                 .pool = "p",
                                 .pods = 1,
                                 .amounts = {{kGpu, 8}},
                                 .since = other.started,
                                 .nodes = {"n2"}};
  index.put(other);
  index.put(PodFact{.uid = "other-pod",
                    .workload = other.workload,
                    .requests = {{kGpu, 8}},
                    .state = PodState::kBound,
                    .node = "n2"});
  wait("next", 8, 100);
  JobFact waits = job("next", 8, 100, 1);
  waits.workload = "Job/other/next", waits.uid = "other-next", waits.queue = "r";
  index.put(waits);
  finish(0.51, 1000), finish(0.95, 1000, "other");

  EXPECT_EQ(told("next"), "40-45");
  const auto of_other = StartEstimates(index, shares, kNow, StartEstimates::kManyTries)
                            .find(*index.find("Job/other/next"));
  ASSERT_TRUE(of_other && of_other->latest);
  EXPECT_GE(*of_other->earliest, kNow + 80 * kMinute);
}

TEST_F(StartEstimatesTest, WhatHasRunForLongIsNoneOfThoseThatEndEarly) {
  add_node("n1"), add_queue("q", 8);
  run("runs", {"n1"}, 8, 100, 60);
  wait("next", 8, 100);
  finish(0.1, 500), finish(0.9, 500);
  EXPECT_GE(*estimate("next")->earliest, kNow + 25 * kMinute) << told("next");
}

TEST_F(StartEstimatesTest, SmallerOnesGoBesideAHeadUnlessTheQueueIsStrict) {
  finish(1, 1000);
  for (const bool strict : {false, true}) {
    add_node("n1"), add_queue("q", 8, strict);
    run("short", {"n1"}, 4, 30, 0), run("long", {"n1"}, 4, 90, 0);
    wait("head", 8, 20), wait("small", 2, 10);
    EXPECT_EQ(told("head"), "85-90");
    EXPECT_EQ(told("small"), strict ? "105-110" : "25-30");
  }
}

// Small workloads that pass a head delay it, even if they have yet to arrive.
TEST_F(StartEstimatesTest, OthersAreTakenToComeAsTheyDidOfLate) {
  finish(1, 1000);
  const auto latest = [&](bool strict, std::int64_t ago, std::int64_t minutes) {
    add_node("n1"), add_queue("q", 8, strict);
    run("long", {"n1"}, 4, 90, 0);
    for (const char* name : {"a", "b", "c", "d"}) come(name, "n1", 1, minutes, ago);
    wait("head", 8, 20);
    return (*estimate("head")->latest - kNow) / kMinute;
  };
  EXPECT_LE(latest(false, 24 * 60, 24 * 60 + 30), 90) << "that was a day ago";
  EXPECT_GT(latest(false, 20, 60), 120);
  EXPECT_LE(latest(true, 20, 60), 90) << "nobody passes";
}

// Three in a hundred run long: too few for the range to reach that far.
TEST_F(StartEstimatesTest, ARangeLeavesOutWhatHardlyEverHappens) {
  add_node("n1"), add_queue("q", 8);
  run("runs", {"n1"}, 8, 100, 0);
  wait("next", 8, 100);
  finish(0.2, 970), finish(0.95, 30);
  EXPECT_LE(*estimate("next")->latest, kNow + 25 * kMinute) << told("next");
  finish(0.95, 970);
  EXPECT_GE(*estimate("next")->latest, kNow + 90 * kMinute) << "but not what often does";
}

TEST_F(StartEstimatesTest, AGangTakesItsNodesAndNoMore) {
  add_node("n1"), add_node("n2"), add_queue("q", 16);
  run("a", {"n1", "n2"}, 8, 30, 0);
  wait("gang", 3, 60, 2), wait("beside", 5, 60), wait("after", 8, 60);
  finish(1, 1000);
  EXPECT_EQ(told("gang"), "25-30");
  EXPECT_EQ(told("beside"), "25-30") << "once the gang's pods are bound";
  EXPECT_EQ(told("after"), "85-90");
}

TEST_F(StartEstimatesTest, WhatLeavesIsAsGoodAsGone) {
  add_node("n1"), add_queue("q", 8);
  run("runs", {"n1"}, 8, 0, 0);
  JobFact stopped = job("runs", 8, 0, 1);
  index.put(stopped);  // suspended, and its pod still exists
  wait("next", 8, 60);
  EXPECT_EQ(told("next"), "0-0");
}

TEST_F(StartEstimatesTest, WhoHasDeclaredNothingIsNamed) {
  add_node("n1"), add_queue("q", 8);
  run("runs", {"n1"}, 8, 0, 10);
  wait("next", 8, 60), wait("last", 8, 60);
  EXPECT_EQ(told("next"), "?-?");
  EXPECT_EQ(describe(*estimate("next"), kNow),
            "when it begins is unknown: Job/team/runs declares no run time; set "
            "activeDeadlineSeconds on Jobs");
  index.remove_job("Job/team/runs"), index.remove_pod("runs-n1");
  wait("later", 8, 60);
  index.remove_job("Job/team/last"), index.remove_job("Job/team/next");
  wait("forever", 8, 0), wait("last", 8, 60);
  EXPECT_EQ(estimate("later")->latest, kNow);
  EXPECT_EQ(told("last"), "?-?");
  EXPECT_EQ(*estimate("last")->endless->name, "Job/team/forever") << "it begins, and ends never";
}

TEST_F(StartEstimatesTest, WhoCouldNeverBeginOrIsNotReadyIsToldNothing) {
  add_node("n1"), add_queue("q", 8);
  run("runs", {"n1"}, 8, 0, 10);
  wait("huge", 9, 60);
  JobFact held = job("held", 8, 60, 1);
  held.template_mutable = false;
  index.put(held);
  EXPECT_EQ(told("huge"), "nothing");
  EXPECT_EQ(told("held"), "nothing");
  wait("next", 8, 60);
  EXPECT_EQ(told("next"), "?-?");
  index.put(QueueFact{.name = "q", .quotas = {{kGpu, "p", 8, {}, {}}}, .held = true});
  EXPECT_EQ(told("next"), "nothing") << "nobody's end would help";
}

TEST_F(StartEstimatesTest, BeyondWhatItLooksAtItSaysFromWhen) {
  add_node("n1"), add_queue("q", 8);
  run("runs", {"n1"}, 8, 60, 0);
  for (int i = 0; i < 40; ++i) wait(fmt::format("w{:02}", i), 8, 60);
  EXPECT_TRUE(estimate("w39")->latest);
  const auto cut = estimate("w39", 20);
  EXPECT_FALSE(cut->latest);
  EXPECT_TRUE(cut->looked_no_further);
  EXPECT_THAT(describe(*cut, kNow), HasSubstr("or later; too much comes before it to say more"));
  EXPECT_TRUE(estimate("w00", 20)->latest) << "who is near is told all the same";
}

// In 150 queues, each end helps only one: berth must not retry the workloads of the others.
TEST_F(StartEstimatesTest, SomeHundredAreToldWhenTheyBegin) {
  for (int i = 0; i < 150; ++i) test::add_full_queue(i, index);
  const StartEstimates estimates(index, shares, kNow, StartEstimates::kFewTries);
  int told = 0;
  for (int i = 0; i < 150; ++i) {
    for (const char* kind : {"next", "last"}) {
      const auto of = estimates.find(*index.find(test::name_in_queue(kind, i)));
      told += of && of->latest ? 1 : 0;
    }
  }
  EXPECT_EQ(told, 300);
}

// All of them lack quota, which is cheap to see: the tries are left for those that may start.
TEST_F(StartEstimatesTest, HeadsAreToldThoughManyKindsWaitBehindThem) {
  for (int i = 0; i < 100; ++i) {
    test::add_full_queue(i, index);
    std::int64_t lasts = 60 * kMinute;
    for (int kind = 0; kind < 40; ++kind, lasts = lasts * 11 / 10) {
      JobFact behind = test::job_in_queue(fmt::format("kind{:02}", kind).c_str(), i);
      behind.created += kMinute + kind;
      behind.lasts = lasts;
      index.put(behind);
    }
  }
  const StartEstimates estimates(index, shares, kNow, StartEstimates::kFewTries);
  int told = 0;
  for (int i = 0; i < 100; ++i) {
    const auto of = estimates.find(*index.find(test::name_in_queue("last", i)));
    told += of && of->latest ? 1 : 0;
  }
  EXPECT_GT(told, 50);
}

TEST_F(StartEstimatesTest, WordsAreInTimesThatStandStill) {
  const auto at = [](std::int64_t minutes) { return kNow + minutes * kMinute; };
  EXPECT_EQ(describe({.earliest = at(42), .latest = at(191)}, kNow),
            fmt::format("it begins between {} and {}, as far as declared run times and those of "
                        "finished Jobs tell",
                        format_time(Time(std::chrono::microseconds(at(40)))),
                        format_time(Time(std::chrono::microseconds(at(195))))));
  EXPECT_THAT(describe({.earliest = at(1), .latest = at(9)}, kNow), HasSubstr("between now and"));
}

TEST(RunShares, CountsTheFinishedJobsThatStand) {
  RunShares shares;
  EXPECT_NEAR(shares.in("team").at(0.5, 0), 0.5, 0.01) << "nothing is known: anything may be";
  EXPECT_NEAR(shares.in("team").at(0.5, 0.8), 0.9, 0.01);
  berth::Job job;
  job.meta.namespace_ = "team";
  job.active_deadline_seconds = 1000;
  job.start_time = Time();
  shares.follow({.now = &job});
  EXPECT_TRUE(shares.in("team").empty()) << "it runs";
  berth::Job done = job;
  done.finished_at = Time() + std::chrono::seconds(260);
  shares.follow({.old = &job, .now = &done});
  EXPECT_NEAR(shares.in("team").at(0.5, 0), 0.26, 0.05);
  EXPECT_NEAR(shares.in("team").at(0.5, 0.5), 0.75, 0.01) << "nobody ran for so long";
  shares.follow({.old = &done});
  EXPECT_TRUE(shares.in("team").empty());
}

}  // namespace
}  // namespace berth::queue::test
