// SPDX-License-Identifier: Apache-2.0
// Gangs that no Job makes and that are not Ready in time: taken back whole, left out for longer
// each time, and in the end until somebody deletes their pods.
#include "controller/queue/cycle/cycle.h"
#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/facts/backoff.h"
#include "controller/queue/recall/never_ready.h"
#include "controller/queue/record/setback.h"
#include "tests/queue/recall_fixture.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class GangSetbackTest : public RecallTest {
 protected:
  GangSetbackTest() {
    GPUQueue queue = queue_of("vision", 16);
    queue.spec.pods_ready_timeout = 10min;
    add(queue);
  }
  RecallFact mark() const { return marks().empty() ? RecallFact() : marks().front(); }
  std::int64_t in_microseconds(Time time) const { return time.time_since_epoch().count(); }
  std::string reason() const {
    const FactsIndex& facts = cluster.view<ClusterIndex>().facts();
    const Survey survey(facts, 100);
    const Outcome outcome = survey.outcome(*facts.find(kGang));
    return reason_of(outcome) + ": " + describe(outcome, facts.catalog());
  }
  // The gang misses its deadline, is requeued, and its controller re-creates it.
  void set_back(const std::string& first, const std::string& second) {
    now += 10min;
    take_back();
    come_back(first, second);
    review();
  }
  // The queue has admitted it again.
  void run_again(const std::string& first, const std::string& second) {
    cluster.erase<berth::Pod>("a", first), cluster.erase<berth::Pod>("a", second);
    start_gang();
    now += 10s;
    review();
  }
};

TEST_F(GangSetbackTest, AGangWithAPodThatIsNotReadyInTimeIsTakenBackWhole) {
  start_gang();
  put_member("g0", "n1", true);
  EXPECT_THAT(due(), Contains(kGangDue));
  EXPECT_EQ(plan(kGang).requeue_after, 10min);
  EXPECT_THAT(asked(), IsEmpty());
  now += 10min;
  EXPECT_THAT(asked(), ElementsAre("g0", "g1"));
  take_back();
  EXPECT_THAT(mark().why, HasSubstr("1 pod has not been Ready in time"));
  EXPECT_EQ(mark().times, 1);
  EXPECT_EQ(mark().until, in_microseconds(now + 1min));
  EXPECT_THAT(done(kGang), ElementsAre("evict g0", "evict g1"));
}

TEST_F(GangSetbackTest, WhatHasBeenReadyOnceIsNotLateAndNorIsAQueueWithoutATime) {
  start_gang(true);
  now += 24h;
  EXPECT_EQ(plan(kGang), Plan());
  put_member("g1", "n2", false);
  EXPECT_EQ(plan(kGang).requeue_after, 10min) << "a pod that is made later has its own time";
  now += 10min;
  EXPECT_THAT(asked(), SizeIs(2));
  add(queue_of("vision", 16));
  EXPECT_EQ(plan(kGang), Plan());
}

TEST_F(GangSetbackTest, ItIsLeftOutForAWhileAndThenQueuesAgain) {
  start_gang();
  set_back("h0", "h1");
  EXPECT_THAT(in_flight(), IsEmpty());
  EXPECT_EQ(reason(),
            "BackingOff: not all of its pods were Ready in time, 1 of 5 times; it queues again "
            "after 1m");
  EXPECT_EQ(mark().first, "h0") << "whoever deletes that one ends the wait";
  now += 59s;
  review();
  EXPECT_THAT(in_flight(), IsEmpty());
  now += 1s;
  review();
  EXPECT_THAT(in_flight(), ElementsAre(kGang));
  EXPECT_EQ(mark().times, 1) << "it counts on";
}

TEST_F(GangSetbackTest, ItCountsInARowAndAfterFiveTimesItWaitsForSomebody) {
  start_gang();
  for (std::int64_t times = 1; times <= kMostSetbacks; ++times) {
    set_back("h0", "h1");
    ASSERT_THAT(marks(), SizeIs(1));
    EXPECT_EQ(mark().times, times);
    if (times == kMostSetbacks) break;
    EXPECT_EQ(mark().until, in_microseconds(now + backoff_after(times)));
    now += backoff_after(times);
    review();
    run_again("h0", "h1");
  }
  EXPECT_EQ(mark().until, 0);
  EXPECT_EQ(reason(),
            "NotReady: not all of its pods were Ready in time, 5 times; delete its pods, and those "
            "that are made anew queue again");
  now += 24h;
  review();
  EXPECT_THAT(in_flight(), IsEmpty());
  ASSERT_THAT(marks(), SizeIs(1));
  cluster.erase<berth::Pod>("a", "h0");
  come("h2");
  review();
  EXPECT_THAT(in_flight(), ElementsAre(kGang));
  EXPECT_THAT(marks(), IsEmpty()) << "it begins anew";
}

TEST_F(GangSetbackTest, OnceAllHaveBeenReadyItIsForgotten) {
  start_gang();
  set_back("h0", "h1");
  now += 1min;
  review();
  run_again("h0", "h1");
  EXPECT_THAT(marks(), SizeIs(1));
  start_gang(true);
  review();
  EXPECT_THAT(marks(), IsEmpty());
}

TEST_F(GangSetbackTest, ANodeThatGoesIsNoSetbackAndForgetsNone) {
  start_gang();
  set_back("h0", "h1");
  now += 1min;
  review();
  run_again("h0", "h1");
  give_notice("n1"), take_back();
  EXPECT_EQ(mark().times, 1);
  EXPECT_FALSE(mark().leaves_out());
}

TEST_F(GangSetbackTest, AGangThatIsGoneLeavesNoMark) {
  start_gang();
  set_back("h0", "h1");
  cluster.erase<berth::Pod>("a", "h0"), cluster.erase<berth::Pod>("a", "h1");
  now += 1min;
  review();
  EXPECT_THAT(marks(), SizeIs(1)) << "its controller may be making them";
  now += 4min;
  review();
  EXPECT_THAT(marks(), IsEmpty());
}

}  // namespace
}  // namespace berth::queue
