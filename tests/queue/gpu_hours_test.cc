// SPDX-License-Identifier: Apache-2.0
// The use of a queue is, for each workload, the GPUs held times the hours, whatever starts and ends
// when. A crash loses only workloads that ended since the last checkpoint.
#include "controller/queue/budget/gpu_hours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "controller/live/tz_database.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;
using namespace std::chrono_literals;

Time at(const std::string& text) { return parse_time(text).value(); }

constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000;

struct Stint {  // of one workload
  Holding holding;
  Time end;
};

// The use per day, computed day by day.
std::map<std::string, UsedByQueue> slow_days(const std::vector<Stint>& runs, Time from,
                                             Time until) {
  std::map<std::string, UsedByQueue> days;
  for (Time day = std::chrono::floor<std::chrono::days>(from); day < until; day += 24h)
    for (const Stint& run : runs) {
      const Time begins = std::max({run.holding.since, day, from});
      const Time ends = std::min({run.end, Time(day + 24h), until});
      if (begins >= ends) continue;
      days[day_of(day)][run.holding.queue][run.holding.namespace_] +=
          run.holding.gpus * std::chrono::floor<std::chrono::seconds>(ends - begins).count();
    }
  return days;
}

std::int64_t sum(const std::map<std::string, UsedByQueue>& periods) {
  std::int64_t all = 0;
  for (const auto& [name, queues] : periods)
    for (const auto& [queue, namespaces] : queues)
      for (const auto& [namespace_, used] : namespaces) all += used;
  return all;
}

class History {
 public:
  explicit History(unsigned seed) : random_(seed) {
    for (int i = 0; i < 40; ++i) {
      const Time since = begin + std::chrono::seconds(pick(0, 150'000));
      runs.push_back({{"q" + std::to_string(pick(0, 2)), "ns" + std::to_string(pick(0, 2)),
                       pick(1, 16) * 125'000, since},
                      since + std::chrono::seconds(pick(1, pick(0, 1) == 0 ? 90 : 40'000))});
    }
    // It looks whenever a workload has ended, and at random times.
    for (const Stint& run : runs) looks.push_back(run.end);
    for (int i = 0; i < 400; ++i) looks.push_back(begin + std::chrono::seconds(pick(1, 200'000)));
    std::ranges::sort(looks);
  }
  std::vector<Holding> held_at(Time now) const {
    std::vector<Holding> held;
    for (const Stint& run : runs)
      if (run.holding.since <= now && now < run.end) held.push_back(run.holding);
    return held;
  }
  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random_);
  }

  const Time begin = at("2026-10-31T09:30:00Z");
  std::vector<Stint> runs;
  std::vector<Time> looks;

 private:
  std::mt19937 random_;
};

TEST(GpuHours, AreTheSumOfWhatEachWorkloadHeldAndForHowLong) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    History history(seed);
    GpuHours hours;
    count_until(history.begin, nullptr, {}, {}, hours);
    HeldGpus held;
    for (const Time now : history.looks) {
      std::vector<Holding> holdings = history.held_at(now);
      count_until(now, &held, holdings, {}, hours);
      held = sum_of(holdings);
    }
    std::vector<Stint> seen;
    for (const Stint& run : history.runs) {
      const bool looked = std::ranges::any_of(
          history.looks, [&](Time look) { return run.holding.since <= look && look < run.end; });
      if (looked) seen.push_back(run);
    }
    EXPECT_EQ(hours.days, slow_days(seen, history.begin, history.looks.back())) << "seed " << seed;
    EXPECT_EQ(sum(hours.months), sum(hours.days));
    EXPECT_THAT(hours.months, ElementsAre(Key("2026-10"), Key("2026-11")));
  }
}

TEST(GpuHours, LoseInACrashNoMoreThanWhatEndedSinceTheCheckpointUsedSince) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    History history(seed);
    GpuHours hours;
    count_until(history.begin, nullptr, {}, {}, hours);
    GpuHours checkpoint = hours;
    HeldGpus held;
    bool looked = true;
    std::int64_t may_lose = 0;
    for (const Time now : history.looks) {
      if (history.pick(0, 4) == 0) {
        for (const Stint& run : history.runs) {
          const Time from = std::max(run.holding.since, *checkpoint.at);
          if (from < run.end && run.end <= now)
            may_lose +=
                run.holding.gpus * std::chrono::floor<std::chrono::seconds>(run.end - from).count();
        }
        hours = checkpoint;
        looked = false;
      }
      const std::vector<Holding> holdings = history.held_at(now);
      count_until(now, looked ? &held : nullptr, holdings, {}, hours);
      held = sum_of(holdings);
      looked = true;
      if (now - *checkpoint.at >= 1min) checkpoint = hours;
    }
    // Workloads that no look saw are lost in any case.
    for (const Stint& run : history.runs)
      may_lose +=
          std::ranges::none_of(
              history.looks, [&](Time look) { return run.holding.since <= look && look < run.end; })
              ? run.holding.gpus *
                    std::chrono::floor<std::chrono::seconds>(run.end - run.holding.since).count()
              : 0;
    const std::int64_t used = sum(slow_days(history.runs, history.begin, history.looks.back()));
    EXPECT_LE(sum(hours.days), used) << "seed " << seed;
    EXPECT_GE(sum(hours.days), used - may_lose) << "seed " << seed;
  }
}

TEST(GpuHours, BeginNowWhateverHasRunSinceWhen) {
  GpuHours hours;
  const std::vector<Holding> held{{"nlp", "a", 8'000'000, at("2026-11-01T00:00:00Z")}};
  count_until(at("2026-11-25T10:00:00Z"), nullptr, held, {}, hours);
  EXPECT_THAT(hours.days, IsEmpty());
  count_until(at("2026-11-25T11:00:00Z"), nullptr, held, {}, hours);
  EXPECT_EQ(hours.days.at("2026-11-25").at("nlp").at("a"), 8 * kHour);
}

TEST(GpuHours, CountNothingTwiceWhenTheClockGoesBack) {
  GpuHours hours;
  const std::vector<Holding> held{{"nlp", "a", 1'000'000, at("2026-11-01T00:00:00Z")}};
  const HeldGpus gpus = sum_of(held);
  const auto used = [&] { return hours.days["2026-11-25"]["nlp"]["a"]; };
  count_until(at("2026-11-25T10:00:00Z"), &gpus, held, {}, hours);
  count_until(at("2026-11-25T11:00:00Z"), &gpus, held, {}, hours);
  count_until(at("2026-11-25T10:55:00Z"), &gpus, held, {}, hours);
  EXPECT_EQ(used(), kHour);
  EXPECT_EQ(*hours.at, at("2026-11-25T11:00:00Z"));
  count_until(at("2026-11-25T11:00:00Z"), &gpus, held, {}, hours);
  count_until(at("2026-11-25T11:30:00Z"), &gpus, held, {}, hours);
  EXPECT_EQ(used(), kHour + kHour / 2);
  // A clock that was a month ahead and is corrected does not stop the count for a month.
  hours.at = at("2026-12-25T00:00:00Z");
  count_until(at("2026-11-25T12:00:00Z"), &gpus, held, {}, hours);
  count_until(at("2026-11-25T12:30:00Z"), &gpus, held, {}, hours);
  EXPECT_EQ(used(), 2 * kHour);
}

TEST(GpuHours, ABudgetsPeriodBeginsWithNothingAtItsVeryBeginning) {
  GpuHours hours;
  const std::vector<Holding> held{{"nlp", "a", 2'000'000, at("2026-11-01T00:00:00Z")}};
  const HeldGpus gpus = sum_of(held);
  const auto count = [&](const std::string& now) {
    const Period period = period_at(BudgetPeriod::kDay, *utc_only().find("UTC"), at(now));
    count_until(at(now), &gpus, held, {{"nlp", period}}, hours);
  };
  count("2026-11-25T22:00:00Z");
  count("2026-11-25T23:00:00Z");
  EXPECT_EQ(hours.budgets["nlp"].used, 2 * kHour);
  count("2026-11-26T00:30:00Z");
  EXPECT_EQ(hours.budgets["nlp"].used, kHour);
  EXPECT_EQ(hours.budgets["nlp"].period.until, at("2026-11-27T00:00:00Z"));
  EXPECT_EQ(hours.days["2026-11-25"]["nlp"]["a"], 4 * kHour);
  EXPECT_EQ(hours.days["2026-11-26"]["nlp"]["a"], kHour);
}

TEST(GpuHours, PoolsHaveWhatWasUsedInThem) {
  GpuHours hours;
  const Time since = at("2026-11-01T00:00:00Z");
  const std::vector<Holding> held{{"nlp", "a", 2'000'000, since, "training"},
                                  {"nlp", "a", 1'000'000, since, "inference"},
                                  {"vision", "b", 1'000'000, since, "training"}};
  const HeldGpus gpus = sum_of(held);
  count_until(at("2026-11-30T22:00:00Z"), &gpus, held, {}, hours);
  count_until(at("2026-12-01T01:00:00Z"), &gpus, held, {}, hours);
  EXPECT_EQ(hours.days["2026-11-30"]["nlp"]["a"], 6 * kHour);
  EXPECT_EQ(hours.pools.days["2026-11-30"]["training"], 6 * kHour);
  EXPECT_EQ(hours.pools.days["2026-11-30"]["inference"], 2 * kHour);
  EXPECT_EQ(hours.pools.months["2026-12"]["training"], 3 * kHour);
}

TEST(GpuHours, ABudgetThatComesLaterCountsTheDaysOfItsPeriod) {
  GpuHours hours;
  const std::vector<Holding> held{{"nlp", "a", 1'000'000, at("2026-11-01T00:00:00Z")},
                                  {"nlp", "b", 1'000'000, at("2026-11-01T00:00:00Z")}};
  const HeldGpus gpus = sum_of(held);
  count_until(at("2026-11-22T23:00:00Z"), &gpus, held, {}, hours);  // a Sunday
  count_until(at("2026-11-25T00:00:00Z"), &gpus, held, {}, hours);
  const auto budget = [&](BudgetPeriod period) {
    const Period from_to = period_at(period, *utc_only().find("UTC"), *hours.at);
    count_until(*hours.at, &gpus, held, {{"nlp", from_to}}, hours);
    return hours.budgets.at("nlp").used;
  };
  EXPECT_EQ(budget(BudgetPeriod::kWeek), 96 * kHour);
  EXPECT_EQ(budget(BudgetPeriod::kMonth), 98 * kHour);
  EXPECT_EQ(budget(BudgetPeriod::kDay), 0);
  count_until(*hours.at, &gpus, held, {}, hours);
  EXPECT_THAT(hours.budgets, IsEmpty());
}

TEST(GpuHours, ABudgetThatComesLaterCountsItsOwnQueueAlone) {
  GpuHours hours;
  const auto run = [&](const char* queue, const std::string& from, const std::string& until) {
    const std::vector<Holding> held{{queue, "a", 1'000'000, at("2026-11-01T00:00:00Z")}};
    const HeldGpus gpus = sum_of(held);
    hours.at = at(from);
    count_until(at(until), &gpus, held, {}, hours);
  };
  run("nlp", "2026-11-23T10:00:00Z", "2026-11-23T12:00:00Z");
  run("vision", "2026-11-24T10:00:00Z", "2026-11-24T13:00:00Z");
  run("nlp", "2026-11-25T10:00:00Z", "2026-11-25T14:00:00Z");
  const Period week = period_at(BudgetPeriod::kWeek, *utc_only().find("UTC"), *hours.at);
  count_until(*hours.at, nullptr, {}, {{"nlp", week}, {"vision", week}, {"speech", week}}, hours);
  EXPECT_EQ(hours.budgets.at("nlp").used, 6 * kHour) << "on Tuesday it had none";
  EXPECT_EQ(hours.budgets.at("vision").used, 3 * kHour);
  EXPECT_EQ(hours.budgets.at("speech").used, 0);
}

TEST(GpuHours, KeepThirtyFiveDaysAndThirteenMonths) {
  GpuHours hours;
  const std::vector<Holding> held{{"nlp", "a", 1'000'000, at("2024-01-01T00:00:00Z")}};
  const HeldGpus gpus = sum_of(held);
  count_until(at("2025-01-01T00:00:00Z"), &gpus, held, {}, hours);
  count_until(at("2026-11-25T12:00:00Z"), &gpus, held, {}, hours);
  EXPECT_EQ(hours.days.size(), 35U);
  EXPECT_EQ(hours.days.begin()->first, "2026-10-22");
  EXPECT_EQ(hours.months.size(), 13U);
  EXPECT_EQ(hours.months.begin()->first, "2025-11");
  EXPECT_EQ(hours.months.begin()->second["nlp"]["a"], 30 * 24 * kHour);
}

TEST(BudgetPeriods, BeginAtMidnightOfTheirZoneWhateverItsClocksDo) {
  const TzDatabase zones;
  const TimeZone& berlin = *zones.find("Europe/Berlin");
  const auto of = [&](BudgetPeriod period, const std::string& now) {
    return period_at(period, berlin, at(now));
  };
  // Clocks go back on 2026-10-25: a day of 25 hours, and a week and a month with one more hour.
  EXPECT_EQ(of(BudgetPeriod::kDay, "2026-10-25T12:00:00Z"),
            (Period{at("2026-10-24T22:00:00Z"), at("2026-10-25T23:00:00Z")}));
  EXPECT_EQ(of(BudgetPeriod::kWeek, "2026-10-25T22:59:59Z"),
            (Period{at("2026-10-18T22:00:00Z"), at("2026-10-25T23:00:00Z")}));
  EXPECT_EQ(of(BudgetPeriod::kWeek, "2026-10-25T23:00:00Z"),
            (Period{at("2026-10-25T23:00:00Z"), at("2026-11-01T23:00:00Z")}));
  EXPECT_EQ(of(BudgetPeriod::kMonth, "2026-10-01T00:00:00Z"),
            (Period{at("2026-09-30T22:00:00Z"), at("2026-10-31T23:00:00Z")}));
  // Clocks go forward on 2027-03-28: a day of 23 hours.
  EXPECT_EQ(of(BudgetPeriod::kDay, "2027-03-28T12:00:00Z"),
            (Period{at("2027-03-27T23:00:00Z"), at("2027-03-28T22:00:00Z")}));
  EXPECT_EQ(of(BudgetPeriod::kMonth, "2026-12-31T22:59:59Z").until, at("2026-12-31T23:00:00Z"));
  EXPECT_EQ(of(BudgetPeriod::kMonth, "2026-12-31T23:00:00Z").until, at("2027-01-31T23:00:00Z"));
}

TEST(BudgetPeriods, FollowOneAnotherWithoutAGapInEveryZone) {
  const TzDatabase zones;
  for (const char* name : {"Europe/Berlin", "America/Havana", "Asia/Kolkata", "America/Santiago",
                           "Australia/Lord_Howe", "Pacific/Apia", "UTC"}) {
    const TimeZone& zone = *zones.find(name);
    Time now = at("2026-01-01T12:00:00Z");
    Period last = period_at(BudgetPeriod::kDay, zone, now);
    for (int day = 0; day < 400; ++day) {
      const Period next = period_at(BudgetPeriod::kDay, zone, last.until);
      EXPECT_EQ(next.from, last.until) << name;
      EXPECT_EQ(period_at(BudgetPeriod::kDay, zone, next.until - 1s), next) << name;
      last = next;
    }
  }
}

TEST(BudgetPeriods, OfAZoneThatDoesNotExistAreThoseOfUTC) {
  const BudgetSpec budget{.period = BudgetPeriod::kDay, .time_zone = "Europe/Berln"};
  EXPECT_EQ(period_at(budget, TzDatabase(), at("2026-11-25T12:00:00Z")).from,
            at("2026-11-25T00:00:00Z"));
}

}  // namespace
}  // namespace berth::queue
