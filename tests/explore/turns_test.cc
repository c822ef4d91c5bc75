// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/turns.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::explore {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

std::vector<Task> with(std::vector<Task> tasks, int scenario, const char* kind, int count) {
  for (int i = 1; i <= count; ++i)
    tasks.push_back({.scenario = scenario,
                     .kind = kind,
                     .schedule = std::string(kind) == kStoryKind ? ""
                                 : std::string(kind) == kCrashPointKind
                                     ? fmt::format("write:{}:before", i)
                                     : fmt::format("request:{}:503", i)});
  return tasks;
}

// Two scenarios, each with a fault-free run, three crash points and 200 failed requests.
std::vector<Task> two_scenarios() {
  std::vector<Task> tasks;
  for (const int scenario : {0, 1}) {
    tasks = with(std::move(tasks), scenario, "request", 200);
    tasks = with(std::move(tasks), scenario, kCrashPointKind, 3);
    tasks = with(std::move(tasks), scenario, kStoryKind, 1);
  }
  return tasks;
}

using TimeLeft = Turns::TimeLeft;

TEST(TurnsTest, StoriesAndThenCrashPointsComeWhateverTheTimeForOthers) {
  Turns turns(two_scenarios(), 2, {});
  std::vector<std::string> kinds;
  while (std::optional<Batch> batch = turns.take(TimeLeft::kForCrashPoints)) {
    EXPECT_TRUE(batch->to_the_end);
    kinds.push_back(
        fmt::format("{} {}", batch->own ? "story" : "crash points", batch->branches.size()));
  }
  EXPECT_THAT(kinds, ElementsAre("story 0", "story 0", "crash points 3", "crash points 3"));
}

TEST(TurnsTest, TheTimeAfterThatOfTheCrashPointsIsForOthers) {
  Turns turns(two_scenarios(), 2, {});
  for (int i = 0; i < 3; ++i) turns.take(TimeLeft::kForAll);  // two fault-free, and crash points
  std::vector<std::string> kinds;
  for (int i = 0; i < 2; ++i) kinds.push_back(turns.take(TimeLeft::kForOthers)->common.kind);
  EXPECT_THAT(kinds, ElementsAre("request", "request"));
  EXPECT_FALSE(turns.take(TimeLeft::kForStories));
}

TEST(TurnsTest, OnASlowMachineTheStoriesAreWhatIsSure) {
  Turns turns(two_scenarios(), 2, {});
  int stories = 0;
  for (; std::optional<Batch> batch = turns.take(TimeLeft::kForStories); ++stories)
    EXPECT_EQ(batch->common.kind, kStoryKind);
  EXPECT_EQ(stories, 2);
}

TEST(TurnsTest, TheScenarioThatHasTakenLeastTimeIsNext) {
  Turns turns(two_scenarios(), 2, {});
  for (int i = 0; i < 4; ++i) turns.take(TimeLeft::kForAll);
  std::vector<int> order;
  while (std::optional<Batch> batch = turns.take(TimeLeft::kForAll)) {
    EXPECT_FALSE(batch->to_the_end);
    order.push_back(batch->common.scenario);
    turns.add_time(batch->common.scenario, batch->common.scenario == 0 ? 3s : 1s);
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 1, 1, 0, 1, 0, 0));
}

TEST(TurnsTest, ABudgetIsASampleInWhichCrashPointsHaveNoPrecedence) {
  Turns turns(two_scenarios(), 2, {.budget = 100});
  turns.take(TimeLeft::kForCrashPoints), turns.take(TimeLeft::kForCrashPoints);
  EXPECT_FALSE(turns.take(TimeLeft::kForCrashPoints));
  EXPECT_TRUE(turns.take(TimeLeft::kForAll));
}

TEST(TurnsTest, WhatIsTakenBackIsPlayedNext) {
  Turns turns(two_scenarios(), 2, {});
  turns.take_back({.common = {.scenario = 1}, .own = 17, .branches = {}, .to_the_end = false});
  EXPECT_EQ(turns.take(TimeLeft::kForStories)->own, 17u);
}

}  // namespace
}  // namespace berth::explore
