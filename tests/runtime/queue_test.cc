// SPDX-License-Identifier: Apache-2.0
// The work queue, and the barrier that holds its keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "controller/runtime/workqueue.h"
#include "controller/runtime/write_barrier.h"
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

class WriteBarrierTest : public ::testing::Test {
 protected:
  static ObjectRef node(const std::string& name = "n1") { return {"Node", "", name, "u1"}; }
  // The cache takes the version in, and says so.
  void cache(const std::string& version, const std::string& uid = "u1", bool terminating = false) {
    cached_ = CachedVersion{uid, version, terminating};
    barrier_.on_cached("Node", "", "n1");
  }
  void gone() {
    cached_.reset();
    barrier_.on_cached("Node", "", "n1");
  }

  FakeLoop loop_;
  std::optional<CachedVersion> cached_ = CachedVersion{"u1", "10", false};
  std::vector<std::string> refetched_;
  std::vector<std::string> released_;
  WriteBarrier barrier_{
      loop_, WriteBarrier::Hooks{
                 .cached = [this](const ObjectRef&) { return cached_; },
                 .refetch = [this](const ObjectRef& o) { refetched_.push_back(o.str()); },
                 .released = [this](const std::string& key) { released_.push_back(key); }}};
};

TEST_F(WriteBarrierTest, AReplyBeforeItsEventHoldsTheKeyUntilTheEvent) {
  barrier_.expect("node/n1", node(), "12", WriteBarrier::Awaits::kVersion);
  EXPECT_TRUE(barrier_.holds("node/n1"));
  EXPECT_FALSE(barrier_.holds("node/n2"));
  cache("11");
  EXPECT_TRUE(barrier_.holds("node/n1"));
  cache("12");
  EXPECT_FALSE(barrier_.holds("node/n1"));
  EXPECT_THAT(released_, ElementsAre("node/n1"));
}

TEST_F(WriteBarrierTest, AnEventBeforeItsReplyHoldsNothing) {
  cache("12");
  barrier_.expect("node/n1", node(), "12", WriteBarrier::Awaits::kVersion);
  EXPECT_FALSE(barrier_.holds("node/n1"));
  EXPECT_EQ(loop_.timers(), 0u);
}

TEST_F(WriteBarrierTest, VersionsAreComparedByLengthFirst) {
  cached_->resource_version = "99";
  barrier_.expect("k", node(), "100", WriteBarrier::Awaits::kVersion);
  EXPECT_TRUE(barrier_.holds("k"));
  cache("101");
  EXPECT_FALSE(barrier_.holds("k"));
}

TEST_F(WriteBarrierTest, AnObjectThatIsGoneOrAnotherReleasesAChange) {
  barrier_.expect("a", node(), "12", WriteBarrier::Awaits::kVersion);
  gone();
  EXPECT_FALSE(barrier_.holds("a"));
  cached_ = CachedVersion{"u1", "10", false};
  barrier_.expect("b", node(), "12", WriteBarrier::Awaits::kVersion);
  cache("11", "u2");
  EXPECT_FALSE(barrier_.holds("b"));
}

TEST_F(WriteBarrierTest, ACreatedObjectIsAwaitedThoughAbsent) {
  gone();
  barrier_.expect("a", {"Node", "", "n1", ""}, "12", WriteBarrier::Awaits::kPresent);
  EXPECT_TRUE(barrier_.holds("a"));
  cache("12");
  EXPECT_FALSE(barrier_.holds("a"));
}

TEST_F(WriteBarrierTest, AnEvictionIsSeenByTerminationOrAbsence) {
  barrier_.expect("a", node(), "", WriteBarrier::Awaits::kGoing);
  cache("13");
  EXPECT_TRUE(barrier_.holds("a"));
  cache("14", "u1", true);
  EXPECT_FALSE(barrier_.holds("a"));
}

TEST_F(WriteBarrierTest, AKeyWithSeveralWritesWaitsForAll) {
  barrier_.expect("a", node(), "12", WriteBarrier::Awaits::kVersion);
  barrier_.expect("a", node(), "14", WriteBarrier::Awaits::kVersion);
  cache("12");
  EXPECT_TRUE(barrier_.holds("a"));
  EXPECT_THAT(released_, IsEmpty());
  cache("14");
  EXPECT_THAT(released_, ElementsAre("a"));
}

TEST_F(WriteBarrierTest, AfterFiveSecondsItAsksAndInTheEndLetsGo) {
  barrier_.expect("a", node(), "12", WriteBarrier::Awaits::kVersion);
  loop_.run_for(4900ms);
  EXPECT_THAT(refetched_, IsEmpty());
  loop_.run_for(200ms);
  EXPECT_THAT(refetched_, ElementsAre("Node/n1"));
  EXPECT_TRUE(barrier_.holds("a"));
  loop_.run_for(20s);
  EXPECT_FALSE(barrier_.holds("a"));
  EXPECT_THAT(released_, ElementsAre("a"));
}

TEST_F(WriteBarrierTest, VersionsThatAreNoNumbersAreEqualOrNot) {
  barrier_.expect("a", node(), "abc", WriteBarrier::Awaits::kVersion);
  cache("abd");
  EXPECT_TRUE(barrier_.holds("a"));
  cache("abc");
  EXPECT_FALSE(barrier_.holds("a"));
}

}  // namespace
}  // namespace berth
