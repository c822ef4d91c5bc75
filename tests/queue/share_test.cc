// SPDX-License-Identifier: Apache-2.0
// Shares are exact; queues without weight, or without anything to borrow from, come last.
#include "controller/queue/cycle/share.h"

#include <gtest/gtest.h>

namespace berth::queue {
namespace {

TEST(Share, IsNothingWithinNominal) {
  EXPECT_EQ(Share::of(0, 10, 1000), Share());
  EXPECT_EQ(Share::of(-5, 10, 0), Share());
  EXPECT_LT(Share(), Share::of(1, 1'000'000'000'000'000, 999'999));
}

TEST(Share, IsAnExactFraction) {
  EXPECT_EQ(Share::of(1, 3, 1000), Share::of(333'333'333'333'333, 999'999'999'999'999, 1000));
  EXPECT_LT(Share::of(1, 3, 1000), Share::of(333'333'333'333'334, 999'999'999'999'999, 1000));
  EXPECT_EQ(Share::of(2, 6, 2000), Share::of(1, 6, 1000));
}

TEST(Share, WithoutWeightComesAfterEveryWeight) {
  EXPECT_LT(Share::of(1000, 1, 1), Share::of(1, 1000, 0));
  EXPECT_LT(Share::of(1, 1000, 0), Share::of(2, 1000, 0));
  EXPECT_LT(Share::of(2, 1000, 0), Share::of(1, 0, 1000)) << "where nothing is lent";
}

}  // namespace
}  // namespace berth::queue
