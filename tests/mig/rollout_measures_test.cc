// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/rollout_measures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

NodeRollout in_phase(RolloutPhase phase, const std::string& failed_config = "") {
  NodeRollout rollout;
  rollout.phase = phase;
  rollout.config = "c";
  rollout.failed_config = failed_config;
  return rollout;
}
RolloutRecord stands(NodeRollout rollout) { return {.text = "", .rollout = std::move(rollout)}; }

TEST(RolloutEnds, AreTakenFromTheNodesRecord) {
  using enum RolloutPhase;
  struct Case {
    const char* sentence;
    RolloutPhase before, after;
    std::optional<RolloutEnd> end;
    std::string failed_config;  // afterwards
  };
  const Case cases[] = {
      {"verified", kApplying, kIdle, RolloutEnd::kRepartitioned, ""},
      {"still at it", kCordoned, kApplying, std::nullopt, ""},
      {"its drain was given up", kCordoned, kIdle, RolloutEnd::kPutBack, ""},
      {"given up", kApplying, kFailed, RolloutEnd::kFailed, "c"},
      {"about to go back", kApplying, kRollingBack, std::nullopt, "c"},
      {"went back", kRollingBack, kIdle, RolloutEnd::kRolledBack, "c"},
      {"could not even go back", kRollingBack, kFailed, RolloutEnd::kFailed, "c"},
      {"mended by a person", kFailed, kIdle, RolloutEnd::kRepartitioned, ""},
      {"let go as it stands", kFailed, kIdle, std::nullopt, "c"},
      {"taken again", kIdle, kCordoned, std::nullopt, ""},
      {"written again", kFailed, kFailed, std::nullopt, "c"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(rollout_end(stands(in_phase(c.before)), in_phase(c.after, c.failed_config)), c.end)
        << c.sentence;
  EXPECT_EQ(rollout_end(RolloutRecord{}, in_phase(kFailed)), std::nullopt) << "never taken";
}

TEST(RolloutObservations, TellThePhaseThatIsLeftAndTheEnd) {
  const ObjectRef node{"Node", "", "n1", "u1"};
  NodeRollout before = in_phase(RolloutPhase::kApplying);
  before.since = Time(100s);
  NodeRollout after = in_phase(RolloutPhase::kIdle);
  after.since = Time(190s);
  EXPECT_THAT(observe_rollout(node, stands(before), after),
              ElementsAre(Observation{node, &kRolloutPhaseSeconds, {{"phase", "Applying"}}, 90},
                          Observation{node, &kNodeRollouts, {{"result", "repartitioned"}}, 1}));
  after.since = Time(100s);
  EXPECT_EQ(observe_rollout(node, stands(before), after)[0].value, 0);
}

TEST(RolloutObservations, AreNoneWhereNoPhaseIsLeft) {
  NodeRollout rollout = in_phase(RolloutPhase::kApplying);
  EXPECT_TRUE(observe_rollout({}, stands(rollout), rollout).empty());
  EXPECT_TRUE(observe_rollout({}, stands(in_phase(RolloutPhase::kIdle)), rollout).empty());
  EXPECT_TRUE(observe_rollout({}, RolloutRecord{}, rollout).empty());
}

TEST(RolloutObservations, AClockThatWasSetBackMeasuresNothingAndTheEndCounts) {
  NodeRollout before = in_phase(RolloutPhase::kApplying);
  before.since = Time(100s);
  const NodeRollout after = in_phase(RolloutPhase::kFailed);
  const auto seen = observe_rollout({}, stands(before), after);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].measure, &kNodeRollouts);
}

}  // namespace
}  // namespace berth
