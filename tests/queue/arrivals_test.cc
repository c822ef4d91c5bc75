// SPDX-License-Identifier: Apache-2.0
// Who is taken to come: as many, and of such kinds, as came within the last hour.
#include "controller/queue/arrivals.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace berth::queue {
namespace {

constexpr std::int64_t kMinute = 60'000'000;
constexpr std::int64_t kNow = 29'736'000 * kMinute;

class ArrivalsTest : public ::testing::Test {
 protected:
  // Minutes ago. It waits yet.
  void came(const std::string& name, std::int64_t ago, std::int64_t lasts_minutes = 60) {
    index.put(JobFact{.workload = "Job/team/" + name,
                      .uid = name,
                      .queue = "q",
                      .priority = 7,
                      .created = kNow - ago * kMinute,
                      .requests = {{"nvidia.com/gpu", 2}},
                      .lasts = lasts_minutes * kMinute});
  }
  std::vector<const Workload*> within(std::int64_t hours, Arrivals::Stream& stream) {
    std::vector<const Workload*> all;
    while (stream.next_at() < kNow + hours * 60 * kMinute) all.push_back(&stream.take());
    return all;
  }

  FactsIndex index;
};

TEST_F(ArrivalsTest, AsManyComeAsCameWithinTheLastHour) {
  for (int i = 0; i < 30; ++i) came(fmt::format("j{}", i), 1 + i);
  const Arrivals arrivals(index, kNow);
  Arrivals::Stream stream(arrivals, 1);
  const auto all = within(100, stream);
  EXPECT_NEAR(static_cast<double>(all.size()), 3000, 300);
  std::int64_t before = kNow;
  for (const Workload* workload : all) {
    EXPECT_GT(workload->standing.created, before);
    before = workload->standing.created;
  }
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

TEST_F(ArrivalsTest, NobodyIsTakenToComeOfThoseWhoCameEarlierOrDeclareNothing) {
  came("old", 61), came("endless", 5, 0);
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
}  // namespace berth::queue
