// SPDX-License-Identifier: Apache-2.0
// Who may hold what of the bodies that are on their way, and who makes room for others.
#include "controller/server/post_room.h"

#include <gtest/gtest.h>

#include <deque>

namespace berth {
namespace {

constexpr std::size_t kMiB = 1 << 20;

class PostRoomTest : public ::testing::Test {
 protected:
  struct Body {
    bool lost = false;
    std::unique_ptr<PostRoom::Place> place;
  };
  Body& announce(std::uint64_t length) {
    Body& body = bodies_.emplace_back();
    body.place = room_.take(length, [&body] { body.lost = true; });
    return body;
  }

  int large_gone_ = 0;
  PostRoom room_{256, 32 * kMiB, [this] { ++large_gone_; }};
  std::deque<Body> bodies_;  // ends before the room does
};

TEST_F(PostRoomTest, WhatIsAnnouncedHoldsNothing) {
  for (int i = 0; i < 32; ++i) announce(7 * kMiB);
  Body& quick = announce(7 * kMiB);
  EXPECT_TRUE(quick.place->hold(7 * kMiB));
  EXPECT_TRUE(bodies_.front().lost) << "an eighth of the places is for large ones";
  EXPECT_FALSE(bodies_[1].lost);
}

TEST_F(PostRoomTest, LargeOnesNeverTakeTheSmallOnesShare) {
  for (int i = 0; i < 30; ++i) announce(4 * kMiB).place->hold(4 * kMiB);
  for (int i = 0; i < 256; ++i) ASSERT_TRUE(announce(kSmallBody).place->hold(kSmallBody));
  int lost = 0;
  for (const Body& body : bodies_) lost += body.lost;
  EXPECT_EQ(lost, 26) << "sixteen MiB of large ones stay, and every small one";
}

TEST_F(PostRoomTest, TheOldestMakesRoomAndGivesBackWhatItHeld) {
  Body &first = announce(100), &second = announce(100);
  for (int i = 0; i < 254; ++i) announce(100);
  announce(100);
  EXPECT_TRUE(first.lost);
  EXPECT_FALSE(first.place->hold(1));
  EXPECT_FALSE(second.lost);
  bodies_.pop_back();
  announce(100);
  EXPECT_FALSE(second.lost) << "one had gone";
}

TEST_F(PostRoomTest, WhatFitsNoRoomIsLostItself) {
  Body& vast = announce(100 * kMiB);
  EXPECT_TRUE(vast.place->hold(16 * kMiB));
  EXPECT_FALSE(vast.place->hold(1));
  EXPECT_TRUE(vast.lost);
  EXPECT_TRUE(announce(100 * kMiB).place->hold(16 * kMiB));
}

TEST_F(PostRoomTest, OnlyLargeOnesAreToldOfAsTheyGo) {
  announce(100).place->hold(100);
  announce(2 * kMiB).place->hold(kMiB);
  announce(2 * kMiB).place->hold(kMiB - 1);
  EXPECT_FALSE(room_.empty());
  bodies_.clear();
  EXPECT_TRUE(room_.empty());
  EXPECT_EQ(large_gone_, 1);
}

}  // namespace
}  // namespace berth
