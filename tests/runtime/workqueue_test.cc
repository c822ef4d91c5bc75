// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/workqueue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WorkQueueTest : public ::testing::Test {
 protected:
  std::vector<std::string> take_all() {
    std::vector<std::string> keys;
    while (auto key = queue_.take()) keys.push_back(*key);
    return keys;
  }
  void finish(const std::string& key) { queue_.done(key); }

  World world_;
  int ready_ = 0;
  WorkQueue queue_{
      world_.loop, world_.metrics,
      WorkQueue::Options{.min_intervals = {{"layout/", 1s}}, .urgent_prefixes = {"node/"}},
      [this] { ++ready_; }};
};

TEST_F(WorkQueueTest, AKeyIsHandedOutOnceHoweverOftenItWasAdded) {
  queue_.add("a");
  queue_.add("b");
  queue_.add("a");
  EXPECT_EQ(queue_.depth(), 2u);
  EXPECT_THAT(take_all(), ElementsAre("a", "b"));
}

TEST_F(WorkQueueTest, ANodesNextStepOvertakesWalksOverTheFleet) {
  for (const char* key : {"agent-config", "node/b", "slots", "node/a"}) queue_.add(key);
  EXPECT_EQ(queue_.depth(), 4u);
  EXPECT_THAT(take_all(), ElementsAre("node/b", "node/a", "agent-config", "slots"));
}

TEST_F(WorkQueueTest, AKeyAddedWhileInWorkComesAfterwards) {
  queue_.add("a");
  take_all();
  queue_.add("a");
  queue_.add("a");
  EXPECT_THAT(take_all(), IsEmpty());
  finish("a");
  EXPECT_THAT(take_all(), ElementsAre("a"));
  finish("a");
  EXPECT_THAT(take_all(), IsEmpty());
}

TEST_F(WorkQueueTest, TheEarliestOfSeveralDelaysCountsAndAnAddEndsTheWait) {
  queue_.add_after("a", 10s);
  queue_.add_after("a", 2s);
  queue_.add_after("a", 5s);
  world_.loop.run_for(1900ms);
  EXPECT_THAT(take_all(), IsEmpty());
  world_.loop.run_for(100ms);
  EXPECT_THAT(take_all(), ElementsAre("a"));
  finish("a");
  world_.loop.run_for(1min);
  EXPECT_THAT(take_all(), IsEmpty());

  queue_.add_after("b", 10s);
  queue_.add("b");
  EXPECT_THAT(take_all(), ElementsAre("b"));
  finish("b");
  world_.loop.run_for(1min);
  EXPECT_THAT(take_all(), IsEmpty());
}

TEST_F(WorkQueueTest, FailuresWaitTwiceAsLongEachTimeUpToAMinuteUntilForgotten) {
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 16; ++i) {
    const MonotonicTime start = world_.loop.now();
    queue_.add_rate_limited("a");
    while (queue_.depth() == 0) world_.loop.run_for(1ms);
    waits.push_back((world_.loop.now() - start) / 1ms);
    take_all();
    finish("a");
  }
  EXPECT_EQ(waits[0], 5);
  EXPECT_EQ(waits[1], 10);
  EXPECT_EQ(waits[10], 5120);
  EXPECT_EQ(waits[14], 60000);
  EXPECT_EQ(waits[15], 60000);
  queue_.forget("a");
  queue_.add_rate_limited("a");
  world_.loop.run_for(5ms);
  EXPECT_THAT(take_all(), ElementsAre("a"));
}

TEST_F(WorkQueueTest, OfManyKeysThatFailAtOnceAHundredAreRetriedSoonAndThenTenASecond) {
  for (int i = 0; i < 130; ++i) queue_.add_rate_limited("k" + std::to_string(i));
  world_.loop.run_for(50ms);
  EXPECT_EQ(take_all().size(), 100u);
  world_.loop.run_for(1s);
  EXPECT_THAT(take_all(), ElementsAre("k100", "k101", "k102", "k103", "k104", "k105", "k106",
                                      "k107", "k108", "k109"));
  world_.loop.run_for(2s);
  EXPECT_EQ(take_all().size(), 20u);
  // What is added because something changed does not wait.
  queue_.add("fresh");
  EXPECT_THAT(take_all(), ElementsAre("fresh"));
}

TEST_F(WorkQueueTest, LayoutsStartAtMostOnceASecond) {
  queue_.add("layout/a");
  EXPECT_THAT(take_all(), ElementsAre("layout/a"));
  queue_.add("layout/a");
  queue_.add("layout/b");
  queue_.add("node/n1");
  finish("layout/a");
  EXPECT_THAT(take_all(), ElementsAre("node/n1", "layout/b"));
  finish("node/n1");
  queue_.add("node/n1");
  EXPECT_THAT(take_all(), ElementsAre("node/n1"));
  world_.loop.run_for(999ms);
  EXPECT_THAT(take_all(), IsEmpty());
  world_.loop.run_for(1ms);
  EXPECT_THAT(take_all(), ElementsAre("layout/a"));
}

TEST_F(WorkQueueTest, AfterShutDownNothingComesOut) {
  queue_.add("a");
  queue_.add_after("b", 1s);
  queue_.shut_down();
  queue_.add("c");
  world_.loop.run_for(2s);
  EXPECT_THAT(take_all(), IsEmpty());
  EXPECT_EQ(world_.loop.timers(), 0u);
}

TEST_F(WorkQueueTest, ItIsCountedUnderTheUsualNames) {
  queue_.add("a");
  queue_.add("b");
  world_.loop.run_for(50ms);
  queue_.take();
  queue_.done("a");
  queue_.add_rate_limited("a");
  const std::string text = world_.metrics.text();
  EXPECT_THAT(text, HasSubstr("workqueue_depth{controller=\"berth\",name=\"berth\"} 1"));
  EXPECT_THAT(text, HasSubstr("workqueue_adds_total{controller=\"berth\",name=\"berth\"} 2"));
  EXPECT_THAT(text, HasSubstr("workqueue_retries_total{controller=\"berth\",name=\"berth\"} 1"));
  EXPECT_THAT(text, HasSubstr("workqueue_queue_duration_seconds_count"));
  EXPECT_THAT(text, HasSubstr("workqueue_work_duration_seconds_count"));
}

}  // namespace
}  // namespace berth
