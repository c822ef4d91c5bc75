// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/write_barrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
