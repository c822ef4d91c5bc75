// SPDX-License-Identifier: Apache-2.0
// Windows and blackouts in real time zones, over their clock changes.
#include "controller/fleet/disruption_calendar.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/live/tz_database.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

Time at(const std::string& text) { return parse_time(text).value(); }

// "open", "open until …", "closed", "closed until …".
std::string told(const DisruptionStatus& status) {
  const std::optional<Time>& change = status.open ? status.closes : status.next_opening;
  return std::string(status.open ? "open" : "closed") +
         (change ? " until " + format_time(*change) : "");
}

struct CalendarCase {
  const char* says;
  std::vector<WindowSpec> windows;
  std::vector<WindowSpec> blackouts;
  const char* now;
  const char* expected;
};

const WindowSpec kSaturdayNight{"0 22 * * sat", 6h, "Europe/Berlin"};
const WindowSpec kHalfPastTwo{"30 2 * * *", 30min, "Europe/Berlin"};
const WindowSpec kOfficeHours{"0 8 * * mon-fri", 10h, "Europe/Berlin"};
const WindowSpec kEveryDay{"0 0 * * *", 24h, "UTC"};
const WindowSpec kNewYorkMorning{"0 9 * * *", 2h, "America/New_York"};

const std::vector<CalendarCase> kCases = {
    {"without either it is always open", {}, {}, "2026-11-21T12:00:00Z", "open"},
    {"before its opening a window is closed",
     {kSaturdayNight},
     {},
     "2026-11-21T20:59:59Z",
     "closed until 2026-11-21T21:00:00Z"},
    {"at its opening it is open",
     {kSaturdayNight},
     {},
     "2026-11-21T21:00:00Z",
     "open until 2026-11-22T03:00:00Z"},
    {"until its last moment, over midnight",
     {kSaturdayNight},
     {},
     "2026-11-22T02:59:59Z",
     "open until 2026-11-22T03:00:00Z"},
    {"at its end it is closed for a week",
     {kSaturdayNight},
     {},
     "2026-11-22T03:00:00Z",
     "closed until 2026-11-28T21:00:00Z"},
    {"in summer its clock is an hour ahead",
     {kSaturdayNight},
     {},
     "2026-07-04T12:00:00Z",
     "closed until 2026-07-04T20:00:00Z"},
    {"six hours are six hours, also in the night that has one more",
     {kSaturdayNight},
     {},
     "2026-10-24T20:00:00Z",
     "open until 2026-10-25T02:00:00Z"},
    {"and in the night that has one less",
     {kSaturdayNight},
     {},
     "2026-03-28T21:00:00Z",
     "open until 2026-03-29T03:00:00Z"},
    {"an opening in the hour that is skipped comes as it is skipped",
     {kHalfPastTwo},
     {},
     "2026-03-29T00:00:00Z",
     "closed until 2026-03-29T01:00:00Z"},
    {"and lasts as long as ever",
     {kHalfPastTwo},
     {},
     "2026-03-29T01:10:00Z",
     "open until 2026-03-29T01:30:00Z"},
    {"in the hour that comes twice it opens the first time",
     {kHalfPastTwo},
     {},
     "2026-10-25T00:00:00Z",
     "closed until 2026-10-25T00:30:00Z"},
    {"and not the second",
     {kHalfPastTwo},
     {},
     "2026-10-25T01:31:00Z",
     "closed until 2026-10-26T01:30:00Z"},
    {"windows that follow each other are one",
     {kEveryDay, kSaturdayNight},
     {},
     "2026-11-21T12:00:00Z",
     "open"},
    {"two windows open in turn",
     {kSaturdayNight, kNewYorkMorning},
     {},
     "2026-11-22T03:00:00Z",
     "closed until 2026-11-22T14:00:00Z"},
    {"a blackout closes what is open at any time",
     {},
     {kOfficeHours},
     "2026-11-23T06:59:00Z",
     "open until 2026-11-23T07:00:00Z"},
    {"and opens it at its end",
     {},
     {kOfficeHours},
     "2026-11-23T12:00:00Z",
     "closed until 2026-11-23T17:00:00Z"},
    {"on Friday evening it is open for the weekend",
     {},
     {kOfficeHours},
     "2026-11-20T17:00:00Z",
     "open until 2026-11-23T07:00:00Z"},
    {"a blackout beats a window",
     {kEveryDay},
     {kOfficeHours},
     "2026-11-23T08:00:00Z",
     "closed until 2026-11-23T17:00:00Z"},
    {"a window that a blackout covers never opens",
     {{"0 10 * * mon", 1h, "Europe/Berlin"}},
     {kOfficeHours},
     "2026-11-22T12:00:00Z",
     "closed"},
    {"one under which a blackout ends opens late",
     {{"0 17 * * mon", 2h, "Europe/Berlin"}},
     {kOfficeHours},
     "2026-11-22T12:00:00Z",
     "closed until 2026-11-23T17:00:00Z"},
    {"years without 29 February are waited through",
     {{"0 0 29 2 *", 1h, "UTC"}},
     {},
     "2028-03-01T00:00:00Z",
     "closed"},
    {"unless it is less than a year off",
     {{"0 0 29 2 *", 1h, "UTC"}},
     {},
     "2027-06-01T00:00:00Z",
     "closed until 2028-02-29T00:00:00Z"},
};

TEST(DisruptionCalendar, OpensAndCloses) {
  const TzDatabase zones;
  for (const CalendarCase& c : kCases) {
    DisruptionSpec spec;
    spec.windows = c.windows;
    spec.blackouts = c.blackouts;
    EXPECT_EQ(told(DisruptionCalendar(spec, zones).at(at(c.now))), c.expected) << c.says;
  }
}

// Minute by minute through both clock changes: the forecasts of at() come true.
TEST(DisruptionCalendar, WhatItForetellsComes) {
  const TzDatabase zones;
  DisruptionSpec spec;
  spec.windows = {kHalfPastTwo, kSaturdayNight, {"*/7 1-3 * * sun", 3min, "Europe/Berlin"}};
  spec.blackouts = {{"15 * * * *", 10min, "Australia/Lord_Howe"}};
  const DisruptionCalendar calendar(spec, zones);
  for (const char* day : {"2026-03-28T20:00:00Z", "2026-10-24T20:00:00Z"}) {
    DisruptionStatus before = calendar.at(at(day));
    for (Time now = at(day) + 1min; now < at(day) + 12h; now += 1min) {
      const DisruptionStatus status = calendar.at(now);
      const std::optional<Time>& change = before.open ? before.closes : before.next_opening;
      ASSERT_TRUE(change.has_value());
      ASSERT_EQ(status.open != before.open, now >= *change) << format_time(now);
      if (status.open == before.open) {
        ASSERT_EQ(told(status), told(before)) << format_time(now);
      }
      before = status;
    }
  }
}

TEST(DisruptionCalendar, WhatCannotBeReadOpensNothing) {
  const TzDatabase zones;
  DisruptionSpec spec;
  spec.windows = {{"0 22 * * sat", 6h, "Mars/Olympus"}};
  const DisruptionCalendar windows(spec, zones);
  ASSERT_EQ(windows.problems().size(), 1u);
  EXPECT_EQ(windows.problems()[0].where, "spec.disruption.windows[0].timeZone");
  EXPECT_EQ(windows.problems()[0].message,
            "there is no time zone \"Mars/Olympus\": write an IANA name, such as Europe/Berlin");
  EXPECT_EQ(told(windows.at(at("2026-11-21T22:00:00Z"))), "closed");

  spec.windows.clear();
  spec.blackouts = {{"0 8 * *", 10h, "UTC"}, kOfficeHours};
  const DisruptionCalendar blackouts(spec, zones);
  ASSERT_EQ(blackouts.problems().size(), 1u);
  EXPECT_EQ(blackouts.problems()[0].where, "spec.disruption.blackouts[0].schedule");
  EXPECT_EQ(told(blackouts.at(at("2026-11-21T22:00:00Z"))), "closed");
}

TEST(TzDatabase, NamesThatAreNoZonesAreNone) {
  const TzDatabase zones;
  for (const char* name : {"", "Europe/Atlantis", "../../../etc/passwd", "/etc/localtime"})
    EXPECT_EQ(zones.find(name), nullptr) << name;
  EXPECT_NE(zones.find("UTC"), nullptr);
  EXPECT_EQ(zones.find("Asia/Tokyo"), zones.find("Asia/Tokyo"));
}

// Counts its calls: a policy, which users can write, must not keep the controller busy.
class CountingUtc : public TimeZone, public TimeZones {
 public:
  LocalTime to_local(Time at) const override { return ++asked, utc_.to_local(at); }
  Time to_time(LocalTime shown) const override { return ++asked, utc_.to_time(shown); }
  const TimeZone* find(std::string_view) const override { return this; }
  mutable int asked = 0;

 private:
  const TimeZone& utc_ = *utc_only().find("UTC");
};

TEST(DisruptionCalendar, TheBusiestPolicyIsSoonJudged) {
  DisruptionSpec spec;
  for (int i = 0; i < 16; ++i) {
    spec.windows.push_back({"* * * * *", 2min + std::chrono::minutes(i), "UTC"});
    spec.blackouts.push_back({"*/2 * * * *", 2min + std::chrono::minutes(i), "UTC"});
  }
  const CountingUtc zones;
  const DisruptionCalendar calendar(spec, zones);
  EXPECT_FALSE(calendar.at(at("2026-11-21T12:00:00Z")).open);
  EXPECT_LT(zones.asked, 400 * 16 * 2 * 30) << "two days' openings, by halves";
}

}  // namespace
}  // namespace berth
