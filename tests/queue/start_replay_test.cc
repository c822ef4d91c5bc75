// SPDX-License-Identifier: Apache-2.0
// How many forecasts of starts came true, and how precise they were, at three loads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/queue/start_score.h"

namespace berth::queue::test {
namespace {

constexpr int kJobs = 250;

struct Case {
  ReplayedCluster cluster;
  double least_held;    // of all ranges
  double most_of_wait;  // the median range's width relative to the median wait
};

class StartReplayed : public ::testing::TestWithParam<Case> {};

TEST_P(StartReplayed, RangesHoldAndSaySomething) {
  const ReplayedCluster& cluster = GetParam().cluster;
  StartScores scores;
  // --gtest_random_seed=N selects other days.
  const auto first = static_cast<std::uint64_t>(std::max(1, GTEST_FLAG_GET(random_seed)));
  for (const std::uint64_t seed : {first, first + 1})
    scores.add(StartReplay(seed, cluster).run(kJobs));
  const StartScore& score = scores.first;
  fmt::print("load {}, {}: {}\n", cluster.load, cluster.strict_fifo ? "strict" : "best effort",
             score.text());
  EXPECT_GE(score.ranges_share(), 0.85);  // for some workloads it does not look far enough ahead
  EXPECT_GE(score.held_share(), GetParam().least_held);
  EXPECT_LE(score.width(), score.wait() * GetParam().most_of_wait);
}

// Over many days nine of ten hold in each case (docs/gpuqueue.md); the few forecasts of two days
// may all share one error. The widths would show if a range again reached from the first to the
// last possible start. The range of a whole wait says little, but where smaller Jobs pass, little
// is known.
INSTANTIATE_TEST_SUITE_P(
    Loads, StartReplayed,
    ::testing::Values(Case{{0.9, true, true}, 0.9, 0.95}, Case{{1.1, true, true}, 0.8, 0.7},
                      Case{{1.4, true, true}, 0.8, 0.5}, Case{{0.9, false, false}, 0.8, 2.5},
                      Case{{1.1, false, false}, 0.8, 2.7}, Case{{1.4, false, false}, 0.8, 3}));

}  // namespace
}  // namespace berth::queue::test
