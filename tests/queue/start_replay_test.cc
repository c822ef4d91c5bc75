// SPDX-License-Identifier: Apache-2.0
// How often what was told of starts came true, and how much it said, at three loads.
#include "tests/queue/start_replay.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace berth::queue::test {
namespace {

constexpr int kJobs = 250;
// Nothing is known yet of how long those before took.
constexpr std::size_t kFirst = 30;

struct Score {
  int told = 0, ranges = 0, held = 0, early = 0, late = 0;
  std::vector<std::int64_t> widths, waits;
  double held_share() const { return static_cast<double>(held) / std::max(1, ranges); }
};

std::int64_t median(std::vector<std::int64_t> of) {
  if (of.empty()) return 0;
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

void add(std::vector<ToldStart> told, Score& score) {
  std::ranges::sort(told, {}, &ToldStart::told);
  for (std::size_t i = kFirst; i < told.size(); ++i) {
    const ToldStart& each = told[i];
    ++score.told;
    if (!each.estimate.latest) continue;
    ++score.ranges;
    score.held += each.estimate.earliest <= each.started && each.started <= each.estimate.latest;
    score.early += each.started < *each.estimate.earliest;
    score.late += each.started > *each.estimate.latest;
    score.widths.push_back(*each.estimate.latest - *each.estimate.earliest);
    score.waits.push_back(each.started - each.arrived);
  }
}

struct Case {
  ReplayedCluster cluster;
  double least_held;    // of all ranges
  double most_of_wait;  // that the median range is wide, of the median wait
};

class StartReplayed : public ::testing::TestWithParam<Case> {};

TEST_P(StartReplayed, RangesHoldAndSaySomething) {
  const ReplayedCluster& cluster = GetParam().cluster;
  Score score;
  // --gtest_random_seed=N: other days.
  const std::uint64_t first = std::max(1, GTEST_FLAG_GET(random_seed));
  for (const std::uint64_t seed : {first, first + 1})
    add(StartReplay(seed, cluster).run(kJobs), score);
  constexpr double kMinute = 60'000'000;
  const double width = static_cast<double>(median(score.widths)) / kMinute;
  const double wait = static_cast<double>(median(score.waits)) / kMinute;
  fmt::print(
      "load {}, {}, {}: {} told, {} ranges, {:.1f}% hold ({} early, {} late); median width {:.0f} "
      "min, "
      "median wait {:.0f} min\n",
      cluster.load, cluster.strict_fifo ? "strict" : "best effort",
      cluster.one_queue ? "one queue" : "three queues", score.told, score.ranges,
      100 * score.held_share(), score.early, score.late, width, wait);
  EXPECT_GE(score.ranges, score.told * 9 / 10);
  EXPECT_GE(score.held_share(), GetParam().least_held);
  EXPECT_LE(width, wait * GetParam().most_of_wait);
}

// Over many days nine of ten hold in each case (docs/gpuqueue.md); of the few that are told on two
// of them, all may have shared one mistake. What is told the range of a whole wait says little, but
// where smaller ones pass, little can be said.
INSTANTIATE_TEST_SUITE_P(
    Loads, StartReplayed,
    ::testing::Values(Case{{0.9, true, true}, 0.8, 1.4}, Case{{1.1, true, true}, 0.8, 1.1},
                      Case{{1.4, true, true}, 0.8, 0.9}, Case{{0.9, false, false}, 0.8, 3.5},
                      Case{{1.1, false, false}, 0.8, 3.5}, Case{{1.4, false, false}, 0.8, 3.5}));

}  // namespace
}  // namespace berth::queue::test
