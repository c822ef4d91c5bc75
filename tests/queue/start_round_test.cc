// SPDX-License-Identifier: Apache-2.0
// A round of projections that is spread over several turns: it gives the same result as one turn,
// no turn exceeds its budget, and workloads that were not there all the time get no result.
#include "controller/queue/starts/start_round.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "controller/queue/starts/start_estimates.h"
#include "controller/queue/starts/start_teller.h"
#include "tests/queue/full_queues.h"

namespace berth::queue::test {
namespace {

constexpr int kRoundQueues = 60;
constexpr std::size_t kRoundTries = StartEstimates::kFewTries;

class StartRoundTest : public ::testing::Test {
 protected:
  StartRoundTest() {
    for (int i = 0; i < kRoundQueues; ++i) add_full_queue(i, index);
  }
  std::size_t play(StartRound& round, std::size_t work) {
    return round.play(index, Arrivals(index, kFullNow), as_others_did(shares), kFullNow,
                      {.tries = kRoundTries, .work = work});
  }
  std::optional<StartEstimate> estimate(const StartEstimates& of, const char* kind, int queue) {
    return of.find(*index.find(name_in_queue(kind, queue)));
  }

  FactsIndex index;
  RunShares shares;
};

TEST_F(StartRoundTest, SaysTheSameHoweverManyTurnsItTakes) {
  const StartEstimates at_once(index, shares, kFullNow, kRoundTries);
  StartRound round;
  int turns = 0;
  for (; !round.is_whole(); ++turns) play(round, 1);
  EXPECT_EQ(turns, static_cast<int>(StartRound::kPlays));
  const StartEstimates in_turns(index, std::move(round));
  for (int i = 0; i < kRoundQueues; ++i) {
    for (const char* kind : {"next", "last"}) {
      const auto one = estimate(at_once, kind, i), other = estimate(in_turns, kind, i);
      ASSERT_TRUE(one && one->latest && other) << kind << " " << i;
      EXPECT_EQ(one->earliest, other->earliest) << kind << " " << i;
      EXPECT_EQ(one->latest, other->latest) << kind << " " << i;
    }
  }
}

TEST_F(StartRoundTest, NoTurnTakesMoreThanItMay) {
  constexpr std::size_t kMay = 10'000;
  StartRound round;
  std::size_t most = 0, turns = 0;
  for (; !round.is_whole(); ++turns) most = std::max(most, play(round, kMay));
  EXPECT_LE(most, kMay);
  EXPECT_GT(most, kMay / 10) << "several plays go into one";
  EXPECT_GT(turns, 1u) << "all of them would be too much";
  EXPECT_LT(turns, StartRound::kPlays);
}

TEST_F(StartRoundTest, ATurnLooksAsFarAsOnePlayGetsByItsWork) {
  const auto before = StartTeller::limits_of_turn(index);
  EXPECT_EQ(before.work, StartTeller::kWorkOfTurn);
  EXPECT_EQ(2 * before.tries + StartRound::work_to_begin(index), before.work);
  StartRound round;
  EXPECT_LE(round.play(index, Arrivals(index, kFullNow), as_others_did(shares), kFullNow, before),
            before.work);

  for (int i = 0; i < 10'000; ++i)
    index.put(NodeFact{.name = std::to_string(i), .pool = "other", .offers = {}});
  const auto larger = StartTeller::limits_of_turn(index);
  EXPECT_LT(larger.tries, before.tries - 1'000) << "it takes longer to begin";
  for (int i = 10'000; i < 70'000; ++i)
    index.put(NodeFact{.name = std::to_string(i), .pool = "other", .offers = {}});
  EXPECT_EQ(StartTeller::limits_of_turn(index).tries, StartEstimates::kFewTries) << "at least";
}

// The number of starts, each with a drawn run time, equals the number of tries; each counts as
// work.
TEST_F(StartRoundTest, APlayIsBoundedHoweverMuchWaits) {
  for (int i = 0; i < 5'000; ++i) {
    JobFact waits = job_in_queue("many", i);
    waits.queue = "q000";
    index.put(waits);
  }
  std::size_t asked = 0;
  const RunTimes run_times = [&](std::uint64_t) -> RunTime {
    return [&](const Workload&, std::int64_t) { return ++asked, std::optional(kFullMinute); };
  };
  StartRound round;
  const std::size_t work = round.play(index, Arrivals(index, kFullNow), run_times, kFullNow,
                                      {.tries = kRoundTries, .work = 1});
  EXPECT_GT(asked, kRoundQueues + 100u) << "some begin";
  EXPECT_LT(asked, kRoundQueues + kRoundTries);
  EXPECT_GE(work, asked - kRoundQueues);
  EXPECT_FALSE(round.is_whole());
}

TEST_F(StartRoundTest, WhatWasNotThereAllTheTimeIsToldNothing) {
  StartRound round;
  play(round, 1);
  index.put(job_in_queue("late", 0));
  JobFact anew = job_in_queue("next", 1);  // under an old name
  anew.uid = "anew", anew.created += kFullMinute;
  index.remove_job(anew.workload);
  index.put(anew);
  index.remove_job(name_in_queue("last", 2));
  play(round, 1);
  index.put(job_in_queue("last", 2));  // it was absent
  while (!round.is_whole()) play(round, 1);
  const StartEstimates estimates(index, std::move(round));
  EXPECT_FALSE(estimate(estimates, "late", 0));
  EXPECT_FALSE(estimate(estimates, "next", 1));
  EXPECT_FALSE(estimate(estimates, "last", 2));
  EXPECT_TRUE(estimate(estimates, "last", 0)->latest);
  EXPECT_TRUE(estimate(estimates, "next", 2)->latest);
}

TEST_F(StartRoundTest, WhoRunsForEverIsNamedAsLongAsHeIsThere) {
  JobFact endless = running_in_queue(1);
  endless.lasts = 0;
  index.put(endless);
  StartRound round;
  while (!round.is_whole()) play(round, 1);
  ASSERT_EQ(round.endless(), std::vector<std::string>{endless.workload});
  const auto waits = estimate(StartEstimates(index, round), "next", 1);
  ASSERT_TRUE(waits && waits->endless);
  EXPECT_EQ(*waits->endless->name, endless.workload);
  EXPECT_EQ(waits->more_endless, 0u);
  index.remove_job(endless.workload), index.remove_pod("runs-001-pod");
  EXPECT_FALSE(estimate(StartEstimates(index, round), "next", 1));
}

TEST_F(StartRoundTest, WhereNobodyBeginsOnePlayIsEnough) {
  for (int i = 0; i < kRoundQueues; ++i) {
    JobFact endless = running_in_queue(i);
    endless.lasts = 0;
    index.put(endless);
  }
  StartRound round;
  play(round, 1);
  EXPECT_TRUE(round.is_whole());
  const auto waits = estimate(StartEstimates(index, round), "next", 5);
  ASSERT_TRUE(waits && waits->endless);
  EXPECT_EQ(*waits->endless->name, name_in_queue("runs", 5)) << "of its own queue";
  EXPECT_EQ(waits->more_endless, kRoundQueues - 1u);
}

}  // namespace
}  // namespace berth::queue::test
