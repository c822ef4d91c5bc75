// SPDX-License-Identifier: Apache-2.0
// mig-manager's known faults, as the simulated one has them.
#include "tests/sim/gpu_agents_fixture.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;

class MigFaultsTest : public GpuAgentsFixture {};

TEST_F(MigFaultsTest, AWedgedAgentStaysPendingUntilItsPodIsDeleted) {
  agents_.inject("n1", AgentFault::kWedge, 1);
  ask("halves");
  world_.run_for(1h);
  EXPECT_EQ(state(), "pending");
  EXPECT_EQ(plugin_label(), "paused-for-mig-change");
  EXPECT_EQ(allocatable(), (Counts{{"nvidia.com/gpu", "0"}}));
  delete_agent_pod("nvidia-mig-manager");
  ASSERT_TRUE(run_until_state("success"));
  world_.run_for(1min);
  EXPECT_EQ(allocatable(), kHalves);
}

TEST_F(MigFaultsTest, APluginThatDoesNotGoWedgesTheAgent) {
  kube_.hang("gpu-operator", agent_pod("nvidia-device-plugin-daemonset"));
  ask("halves");
  world_.run_for(1h);
  EXPECT_EQ(state(), "pending");
  EXPECT_EQ(agents_.devices("n1"), (std::map<std::string, int>{{"nvidia.com/gpu", 4}}));
}

TEST_F(MigFaultsTest, AFaultCanHitEachRun) {
  agents_.inject("n1", AgentFault::kFail, -1);
  for (const char* config : {"halves", "halves-r1", "mixed"}) {
    ask(config);
    ASSERT_TRUE(run_until_state("failed")) << config;
    EXPECT_EQ(plugin_label(), "true");
  }
  world_.run_for(2min);
  EXPECT_EQ(allocatable(), kWhole);
}

TEST_F(MigFaultsTest, AFaultForOneRunIsOverWithIt) {
  agents_.inject("n1", AgentFault::kFail, 1);
  ask("halves");
  ASSERT_TRUE(run_until_state("failed"));
  ask("halves-r1");
  ASSERT_TRUE(run_until_state("success"));
}

TEST_F(MigFaultsTest, AFailureCanLeaveTheLabelsPausedUntilARunGoesWell) {
  agents_.inject("n1", AgentFault::kFailLabelsPaused, 1);
  ask("halves");
  ASSERT_TRUE(run_until_state("failed"));
  world_.run_for(10min);
  EXPECT_EQ(plugin_label(), "paused-for-mig-change");
  EXPECT_EQ(allocatable(), (Counts{{"nvidia.com/gpu", "0"}}));
  ask("halves-r1");
  ASSERT_TRUE(run_until_state("success"));
  EXPECT_EQ(plugin_label(), "true");
}

TEST_F(MigFaultsTest, ALieIsASuccessWithoutDevices) {
  agents_.inject("n1", AgentFault::kLie, 1);
  roll("halves");
  EXPECT_EQ(state(), "success");
  EXPECT_EQ(allocatable(), (Counts{{"nvidia.com/gpu", "0"}}));
  EXPECT_TRUE(agents_.devices("n1").empty());
}

TEST_F(MigFaultsTest, AStaleSuccessSpeaksOfTheRunBefore) {
  agents_.inject("n1", AgentFault::kStaleSuccess, 1);
  ask("halves");
  ASSERT_TRUE(run_until_state("success"));
  EXPECT_EQ(allocatable(), kWhole);
  EXPECT_EQ(plugin_label(), "true");
  ASSERT_TRUE(run_until_state("pending"));
  ASSERT_TRUE(run_until_state("success"));
  world_.run_for(2min);
  EXPECT_EQ(allocatable(), kHalves);
}

TEST_F(MigFaultsTest, ASlowAgentTakesTenTimesAsLong) {
  const auto time = [&](const char* config) {
    ask(config);
    const MonotonicTime begun = world_.now();
    EXPECT_TRUE(run_until_state("success", 1h));
    return world_.now() - begun;
  };
  EXPECT_THAT(time("halves"), AllOf(Ge(10s), Le(40s)));
  agents_.inject("n1", AgentFault::kSlow, 1);
  EXPECT_THAT(time("all-disabled"), AllOf(Ge(100s), Le(310s)));
}

}  // namespace
}  // namespace berth::sim
