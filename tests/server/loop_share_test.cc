// SPDX-License-Identifier: Apache-2.0
// Who may compute on the loop, and when.
#include "controller/server/loop_share.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

using namespace std::chrono_literals;

TEST(LoopShare, AfterATurnAllRest) {
  LoopShare share(19);
  const int a = 0, b = 0;
  EXPECT_TRUE(share.begin(&a, 0ms));
  share.end(0ms, 100ms);
  EXPECT_FALSE(share.begin(&a, 200ms));
  EXPECT_FALSE(share.begin(&b, 1999ms)) << "whoever it is";
  EXPECT_TRUE(share.begin(&a, 2000ms));
}

TEST(LoopShare, WhoAskedFirstGoesFirst) {
  LoopShare share(19);
  const int a = 0, b = 0;
  EXPECT_TRUE(share.begin(&a, 0ms));
  share.end(0ms, 50ms);
  EXPECT_FALSE(share.begin(&b, 100ms));
  EXPECT_FALSE(share.begin(&a, 200ms));
  EXPECT_FALSE(share.begin(&b, 900ms));
  EXPECT_FALSE(share.begin(&a, 1000ms)) << "the time has come, and the turn is another's";
  EXPECT_TRUE(share.begin(&b, 1010ms));
  share.end(1010ms, 1060ms);
  EXPECT_TRUE(share.begin(&a, 2010ms));
}

TEST(LoopShare, WhoAsksNoMoreHoldsUpNobody) {
  LoopShare share(19);
  const int a = 0, gone = 0;
  EXPECT_TRUE(share.begin(&a, 0ms));
  share.end(0ms, 50ms);
  EXPECT_FALSE(share.begin(&gone, 100ms));
  EXPECT_FALSE(share.begin(&a, 1500ms));
  EXPECT_TRUE(share.begin(&a, 2200ms));
}

}  // namespace
}  // namespace berth
