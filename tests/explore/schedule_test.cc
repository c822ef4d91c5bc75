// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::explore {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

TEST(ScheduleTest, IsReadAsItIsWritten) {
  const Result<Schedule> schedule = parse_schedule("berths:2,phase:n1/Applying:edit,write:17:late");
  ASSERT_TRUE(schedule.has_value());
  ASSERT_THAT(schedule->faults, SizeIs(3));
  EXPECT_EQ(schedule->faults[0].number(), 2);
  EXPECT_EQ(schedule->faults[1].where, "n1/Applying");
  EXPECT_EQ(schedule->faults[2].how, "late");
}

TEST(ScheduleTest, SaysWhatToWriteInstead) {
  EXPECT_THAT(describe(parse_schedule("wirte:1:late").error()),
              HasSubstr("wirte:1:late is no kind"));
  EXPECT_THAT(describe(parse_schedule("write:1:lost").error()), HasSubstr("before, unapplied"));
  EXPECT_THAT(describe(parse_schedule("write:x:late").error()), HasSubstr("needs a number"));
}

TEST(ScheduleTest, EveryOneThatIsEnumeratedCanBeRead) {
  Footprint footprint;
  footprint.writes = {false, false, false};
  footprint.requests = {false, true, false};
  footprint.frames = 2;
  footprint.phases = {"n1/Cordoned"};
  const std::vector<Kind> kinds = enumerate_schedules(Scenario{}, footprint);
  std::vector<std::string> all;
  for (const Kind& kind : kinds)
    all.insert(all.end(), kind.schedules.begin(), kind.schedules.end());
  for (const std::string& text : all) EXPECT_TRUE(parse_schedule(text).has_value()) << text;
  EXPECT_THAT(all, Contains("write:3:reply-lost"));
  EXPECT_THAT(all, Contains("request:2:503"));
  EXPECT_THAT(all, Contains("phase:n1/Cordoned:recreate"));
  EXPECT_THAT(all, Contains("berths:3,freeze:1:20s"));
}

TEST(ScheduleTest, OnlyWhatTheWorldGetsOverEndsAsExpected) {
  EXPECT_TRUE(parse_schedule("write:1:late,frame:3:lost")->ends_as_expected(Scenario{}));
  EXPECT_TRUE(parse_schedule("random:4:net")->ends_as_expected(Scenario{}));
  EXPECT_FALSE(parse_schedule("random:4:all")->ends_as_expected(Scenario{}));
  EXPECT_FALSE(parse_schedule("actor:4:cordon")->ends_as_expected(Scenario{}));
}

}  // namespace
}  // namespace berth::explore
