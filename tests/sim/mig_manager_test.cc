// SPDX-License-Identifier: Apache-2.0
// mig-manager on a simulated node: what berth relies on without faults, and what it refuses.
#include "tests/sim/gpu_agents_fixture.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class MigManagerTest : public GpuAgentsFixture {};

TEST_F(MigManagerTest, ANewLabelCutsTheGpusAndTheDevicesFollowLater) {
  const std::string discovered = label("nvidia.com/gfd.timestamp");
  ask("halves");
  ASSERT_TRUE(run_until_state("pending"));
  EXPECT_EQ(plugin_label(), "paused-for-mig-change");
  ASSERT_TRUE(run_until_state("success"));
  EXPECT_EQ(plugin_label(), "true");
  EXPECT_EQ(allocatable(), (Counts{{"nvidia.com/gpu", "0"}})) << "success comes before the devices";
  EXPECT_EQ(label("nvidia.com/mig-3g.40gb.count"), "") << "and before the labels";
  EXPECT_EQ(agents_.devices("n1"), (std::map<std::string, int>{{"nvidia.com/mig-3g.40gb", 8}}));
  world_.run_for(2min);
  EXPECT_EQ(allocatable(), kHalves);
  EXPECT_EQ(label("nvidia.com/mig-3g.40gb.count"), "8");
  EXPECT_NE(label("nvidia.com/gfd.timestamp"), discovered);
  EXPECT_THAT(states_, ElementsAre("", "pending", "success"));
}

TEST_F(MigManagerTest, WhatIsInForceAlreadyIsASuccessWithoutAPause) {
  roll("halves");
  const std::string plugin = agent_pod("nvidia-device-plugin-daemonset");
  ask("halves-r1");
  ASSERT_TRUE(run_until_state("success"));
  EXPECT_THAT(states_, ElementsAre("", "success"));
  EXPECT_EQ(agent_pod("nvidia-device-plugin-daemonset"), plugin);
}

TEST_F(MigManagerTest, AnUnknownConfigFailsAtOnce) {
  ask("thirds");
  ASSERT_TRUE(run_until_state("failed", 2s));
  EXPECT_THAT(states_, ElementsAre("", "failed"));
  EXPECT_EQ(allocatable(), kWhole);
}

TEST_F(MigManagerTest, AConfigThatJustCameIsUnknownUntilTheFileIsMountedAgain) {
  mount(std::string(kFile) +
        "  late:\n  - {devices: all, mig-enabled: true, mig-devices: {7g.80gb: 1}}\n");
  ask("late");
  ASSERT_TRUE(run_until_state("failed", 2s));
  world_.run_for(61s);
  set_label("nvidia.com/mig.config", "all-disabled");
  ASSERT_TRUE(run_until_state("success"));
  ask("late");
  ASSERT_TRUE(run_until_state("success"));
}

TEST_F(MigManagerTest, AnAgentThatStartsMountsTheFileAsItIs) {
  mount(std::string(kFile) +
        "  late:\n  - {devices: all, mig-enabled: true, mig-devices: {7g.80gb: 1}}\n");
  ask("late");
  ASSERT_TRUE(run_until_state("failed", 2s));
  delete_agent_pod("nvidia-mig-manager");
  ASSERT_TRUE(run_until_state("success", 50s));
}

TEST_F(MigManagerTest, ALayoutThatDoesNotFitFailsAndLeavesTheGpuCleared) {
  ask("impossible");
  ASSERT_TRUE(run_until_state("failed"));
  EXPECT_EQ(plugin_label(), "true");
  EXPECT_TRUE(agents_.devices("n1").contains("nvidia.com/gpu") == false);
  world_.run_for(2min);
  EXPECT_EQ(allocatable(), (Counts{{"nvidia.com/gpu", "0"}}));
}

TEST_F(MigManagerTest, AGpuInUseIsNotCut) {
  use_gpu();
  ask("halves");
  ASSERT_TRUE(run_until_state("failed"));
  EXPECT_EQ(plugin_label(), "true");
  EXPECT_EQ(agents_.devices("n1"), (std::map<std::string, int>{{"nvidia.com/gpu", 4}}));
}

TEST_F(MigManagerTest, AFailureAfterARunThatWentWellLeavesTheLabelsPaused) {
  roll("halves");
  ask("impossible");
  ASSERT_TRUE(run_until_state("failed"));
  world_.run_for(1h);
  EXPECT_EQ(plugin_label(), "paused-for-mig-change");
  EXPECT_EQ(agent_pod("nvidia-device-plugin-daemonset"), "");
}

TEST_F(MigManagerTest, WhatComesDuringARunCountsOnlyIfItDiffersInTheEnd) {
  ask("halves");
  ASSERT_TRUE(run_until_state("pending"));
  set_label("nvidia.com/mig.config", "mixed");
  world_.run_for(1s);
  set_label("nvidia.com/mig.config", "halves");
  world_.run_for(10min);
  EXPECT_THAT(states_, ElementsAre("", "pending", "success"));
  EXPECT_EQ(allocatable(), kHalves);
}

TEST_F(MigManagerTest, ALabelRemovedDuringARunMakesOneWithoutAName) {
  ask("halves");
  ASSERT_TRUE(run_until_state("pending"));
  set_label("nvidia.com/gpu.deploy.mig-manager", "true");
  set_label("nvidia.com/mig.config", nullptr);
  world_.run_for(10min);
  // The operator is faster than the run: in the end mig-manager reads all-disabled.
  EXPECT_THAT(states_, ElementsAre("", "pending", "success", "pending", "success"));
  EXPECT_EQ(allocatable()["nvidia.com/gpu"], "4");
}

TEST_F(MigManagerTest, WithoutMigManagerALabelHasNoEffect) {
  set_label("nvidia.com/gpu.deploy.mig-manager", "paused-for-driver-upgrade");
  world_.run_for(10s);
  ask("halves");
  world_.run_for(10min);
  EXPECT_EQ(state(), "");
  set_label("nvidia.com/gpu.deploy.mig-manager", "true");
  EXPECT_TRUE(run_until_state("success"));
}

}  // namespace
}  // namespace berth::sim
