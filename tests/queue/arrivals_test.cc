// SPDX-License-Identifier: Apache-2.0
// The forecast of arrivals: as many Jobs of such kinds as came recently.
#include "controller/queue/starts/arrivals.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/queue/units.h"

namespace berth::queue::test {
namespace {

constexpr std::int64_t kNow = 29'736'000 * kMinute;

class ArrivalsTest : public ::testing::Test {
 protected:
  // A Job that was created so many minutes ago and is pending.
  void came(const std::string& name, std::int64_t ago, std::int64_t lasts_minutes = 60) {
    index.put(job_of(name, ago, lasts_minutes));
  }
  JobFact job_of(const std::string& name, std::int64_t ago, std::int64_t lasts_minutes) {
    return {.workload = "Job/team/" + name,
            .uid = name,
            .queue = "q",
            .priority = 7,
            .created = kNow - ago * kMinute,
            .requests = {{"nvidia.com/gpu", 2}},
            .lasts = lasts_minutes * kMinute};
  }
  // A Job that was admitted with so many parallel pods and has finished.
  void went(const std::string& name, std::int64_t ago, std::int64_t pods) {
    JobFact job = job_of(name, ago, 60);
    job.parallelism = pods;
    index.put(job);
    job.parallelism = 0;
    job.suspended = false;
    job.admitted = AdmissionFact{.uid = job.uid, .queue = "q", .pods = pods};
    index.put(job);
  }
  // The average number of arrivals within an hour, over many streams.
  double come_in_an_hour() {
    const Arrivals arrivals(index, kNow);
    std::size_t all = 0;
    constexpr int kStreams = 200;
    for (std::uint64_t seed = 0; seed < kStreams; ++seed) {
      Arrivals::Stream stream(arrivals, seed);
      all += within(10, stream).size();
    }
    return static_cast<double>(all) / kStreams / 10;
  }
  std::vector<const Workload*> within(std::int64_t hours, Arrivals::Stream& stream) {
    std::vector<const Workload*> all;
    while (stream.next_at() < kNow + hours * 60 * kMinute) all.push_back(&stream.take());
    return all;
  }

  FactsIndex index;
};

TEST_F(ArrivalsTest, AsManyComeAsCameWithinTheLastHour) {
  for (int i = 0; i < 100; ++i) came(fmt::format("j{}", i), 1 + i % 59);
  came("old", 61);
  EXPECT_NEAR(come_in_an_hour(), 100, 3) << "these are enough";
  const Arrivals arrivals(index, kNow);
  Arrivals::Stream stream(arrivals, 1);
  std::int64_t before = kNow;
  for (const Workload* workload : within(10, stream)) {
    EXPECT_GT(workload->standing.created, before);
    before = workload->standing.created;
  }
}

TEST_F(ArrivalsTest, WhereFewCameThoseOfTheDayTellMore) {
  for (int i = 0; i < 10; ++i) came(fmt::format("new{}", i), 1 + i);
  for (int i = 0; i < 30; ++i) came(fmt::format("old{}", i), 250 - i);
  came("yesterday", 24 * 60);
  EXPECT_NEAR(come_in_an_hour(), 40 / (250. / 60), 1);
  for (int i = 0; i < 100; ++i) came(fmt::format("then{}", i), 120);
  EXPECT_NEAR(come_in_an_hour(), 64 / 2., 2) << "the newest of them";
}

TEST_F(ArrivalsTest, OfVeryManySomeTellAsMuch) {
  for (int i = 0; i < 5000; ++i) came(fmt::format("j{}", i), 1 + i % 59);
  const Arrivals arrivals(index, kNow);
  Arrivals::Stream stream(arrivals, 1);
  EXPECT_NEAR(static_cast<double>(within(1, stream).size()), 5000, 600);
}

TEST_F(ArrivalsTest, WhatHasFinishedCameToo) {
  went("short", 20, 3);
  const Arrivals arrivals(index, kNow);
  Arrivals::Stream stream(arrivals, 1);
  ASSERT_LT(stream.next_at(), std::numeric_limits<std::int64_t>::max());
  JobFact same = job_of("same", 1, 60);
  same.parallelism = 3;
  index.put(same);
  EXPECT_EQ(stream.take().standing.workload_class,
            index.find("Job/team/same")->standing.workload_class);
}

// Ten Jobs came; the true rate may be seven, or fourteen.
TEST_F(ArrivalsTest, StreamsDifferAsMuchAsFewMayBeOff) {
  const auto spread = [&](std::int64_t hours) {
    const Arrivals arrivals(index, kNow);
    double sum = 0, squares = 0;
    constexpr int kStreams = 50;
    for (std::uint64_t seed = 0; seed < kStreams; ++seed) {
      Arrivals::Stream stream(arrivals, seed);
      const auto many = static_cast<double>(within(hours, stream).size());
      sum += many, squares += many * many;
    }
    const double mean = sum / kStreams;
    return std::sqrt(squares / kStreams - mean * mean) / mean;
  };
  for (int i = 0; i < 10; ++i) came(fmt::format("j{}", i), 1 + i);
  EXPECT_NEAR(spread(100), 1 / std::sqrt(10), 0.1);
  for (int i = 10; i < 640; ++i) came(fmt::format("j{}", i), 1 + i % 59);
  EXPECT_NEAR(spread(10), 1 / std::sqrt(640), 0.015);
}

TEST_F(ArrivalsTest, EachIsLikeOneOfThoseAndNobodysJob) {
  came("a", 5, 30);
  const Arrivals arrivals(index, kNow);
  Arrivals::Stream stream(arrivals, 1);
  const Workload& like = *index.find("Job/team/a");
  const Workload& first = stream.take();
  const Workload& second = stream.take();
  EXPECT_EQ(first.standing.workload_class, like.standing.workload_class);
  EXPECT_EQ(first.standing.queue, like.standing.queue);
  EXPECT_EQ(first.standing.priority, 7);
  EXPECT_EQ(first.job->lasts, 30 * kMinute);
  EXPECT_TRUE(first.name->starts_with("Job/team/a")) << "its namespace is whose shares it takes";
  EXPECT_NE(*first.name, *second.name);
  EXPECT_TRUE(Arrivals::Stream::has_brought(first));
  EXPECT_FALSE(Arrivals::Stream::has_brought(like));
}

TEST_F(ArrivalsTest, NobodyIsTakenToComeOfThoseWhoCameADayAgoOrDeclareNothing) {
  came("old", 24 * 60), came("endless", 5, 0);
  const Arrivals arrivals(index, kNow);
  Arrivals::Stream stream(arrivals, 1);
  EXPECT_EQ(stream.next_at(), std::numeric_limits<std::int64_t>::max());
}

TEST_F(ArrivalsTest, AStreamIsTheSameEachTimeAndUnlikeOthers) {
  for (int i = 0; i < 5; ++i) came(fmt::format("j{}", i), 10 + i);
  const Arrivals arrivals(index, kNow);
  const auto times = [&](std::uint64_t seed) {
    Arrivals::Stream stream(arrivals, seed);
    std::vector<std::int64_t> at;
    for (const Workload* workload : within(10, stream)) at.push_back(workload->standing.created);
    return at;
  };
  EXPECT_EQ(times(3), times(3));
  EXPECT_NE(times(3), times(4));
}

}  // namespace
}  // namespace berth::queue::test
