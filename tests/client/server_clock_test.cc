// SPDX-License-Identifier: Apache-2.0
#include "controller/client/server_clock.h"

#include <gtest/gtest.h>

#include "tests/io/fake_loop.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr Time kNine = std::chrono::sys_days(std::chrono::year(2026) / 11 / 28) + 9h;
constexpr char kDateNine[] = "Sat, 28 Nov 2026 09:00:00 GMT";
constexpr char kDateTen[] = "Sat, 28 Nov 2026 10:00:00 GMT";

struct ServerClockTest : ::testing::Test {
  ServerClockTest() { loop.set_wall(kNine); }
  FakeLoop loop;
  ServerClock clock{loop, 5min};
};

TEST_F(ServerClockTest, WithoutADateTheMachinesClockCounts) {
  EXPECT_FALSE(clock.skew());
  EXPECT_EQ(clock.now(), kNine);
  clock.hear("yesterday");
  EXPECT_FALSE(clock.skew()) << "what is no date says nothing";
}

TEST_F(ServerClockTest, TheSkewIsWhatTheMachineIsAheadOfTheServer) {
  loop.set_wall(kNine + 3min);
  clock.hear(kDateNine);
  EXPECT_LE(std::chrono::abs(*clock.skew() - 3min), 1s);
  EXPECT_EQ(clock.now(), kNine + 3min) << "within the tolerance the machine's clock counts";
  loop.run_for(2h);
  EXPECT_LE(std::chrono::abs(*clock.skew() - 3min), 1s) << "time went by for both";
}

TEST_F(ServerClockTest, AJumpOfTheMachinesClockMovesNoTime) {
  clock.hear(kDateNine);
  EXPECT_EQ(clock.now(), kNine);
  loop.run_for(10s);
  loop.set_wall(kNine + 24h);
  EXPECT_LE(std::chrono::abs(*clock.skew() - 24h), 15s);
  EXPECT_EQ(clock.now(), kNine + 10s);
  loop.run_for(1h);
  EXPECT_EQ(clock.now(), kNine + 10s + 1h) << "it goes on steadily";
  loop.set_wall(kNine + 10s + 1h);
  EXPECT_EQ(clock.now(), kNine + 10s + 1h) << "right again";
}

TEST_F(ServerClockTest, AJumpOfTheServersClockMovesNoTimeEither) {
  clock.hear(kDateNine);
  EXPECT_EQ(clock.now(), kNine);
  loop.run_for(10s);
  clock.hear(kDateTen);
  EXPECT_LE(std::chrono::abs(*clock.skew() + 1h), 15s);
  EXPECT_EQ(clock.now(), kNine + 10s);
}

TEST_F(ServerClockTest, AProcessWhoseClockNeverAgreedGoesByTheServers) {
  clock.hear(kDateTen);
  EXPECT_LE(std::chrono::abs(clock.now() - (kNine + 1h)), 1s);
  loop.run_for(1h);
  EXPECT_LE(std::chrono::abs(clock.now() - (kNine + 2h)), 1s);
}

}  // namespace
}  // namespace berth
