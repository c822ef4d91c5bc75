// SPDX-License-Identifier: Apache-2.0
// The machine of a simulated node: reboots, a kubelet that dies, another machine with the same
// name.
#include "tests/sim/gpu_agents_fixture.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class GpuMachineTest : public GpuAgentsFixture {};

TEST_F(GpuMachineTest, AModeChangeThatNeedsARebootGoesOnAfterIt) {
  const std::string boot = text_at(node(), {"status", "nodeInfo", "bootID"});
  agents_.inject("n1", AgentFault::kReboot, -1);
  ask("halves");
  ASSERT_TRUE(run_until_state("rebooting"));
  world_.run_for(1s);
  EXPECT_FALSE(ready());
  ASSERT_TRUE(run_until_state("success"));
  EXPECT_TRUE(ready());
  EXPECT_NE(text_at(node(), {"status", "nodeInfo", "bootID"}), boot);
  world_.run_for(2min);
  EXPECT_EQ(allocatable(), kHalves);
  EXPECT_THAT(states_, ElementsAre("", "pending", "rebooting", "pending", "success"))
      << "the mode survives: once is enough";
}

TEST_F(GpuMachineTest, AfterARebootInstancesAreMadeAgainAlsoUnderPodsThatHadSome) {
  roll("mixed");
  use_gpu();
  agents_.reboot("n1");
  world_.run_for(10s);
  EXPECT_FALSE(ready());
  EXPECT_EQ(agents_.devices("n1"), (std::map<std::string, int>{{"nvidia.com/gpu", 2}}));
  world_.run_for(10min);
  EXPECT_TRUE(ready());
  EXPECT_THAT(states_, ElementsAre("success", "pending", "success"));
  EXPECT_EQ(allocatable()["nvidia.com/mig-1g.10gb"], "6");
}

TEST_F(GpuMachineTest, ARebootInTheMiddleOfARunBeginsItAnew) {
  ask("halves");
  ASSERT_TRUE(run_until_state("pending"));
  agents_.reboot("n1");
  world_.run_for(30s);
  EXPECT_EQ(state(), "pending");
  ASSERT_TRUE(run_until_state("success"));
  EXPECT_EQ(agents_.devices("n1"), (std::map<std::string, int>{{"nvidia.com/mig-3g.40gb", 8}}));
}

TEST_F(GpuMachineTest, WhileTheKubeletIsDeadNothingOnTheNodeActs) {
  ask("halves");
  ASSERT_TRUE(run_until_state("pending"));
  kube_.stop_kubelet("n1");
  world_.run_for(2min);
  EXPECT_EQ(state(), "pending");
  EXPECT_FALSE(ready());
  kube_.start_kubelet("n1");
  ASSERT_TRUE(run_until_state("success"));
}

TEST_F(GpuMachineTest, AMachineUnderAnOldNameStartsWithMigOff) {
  roll("halves");
  agents_.reboot("n1");
  world_.run_for(1s);
  agents_.remove_node("n1");
  world_.run_for(1min);
  EXPECT_EQ(person_.get("nodes", "", "n1"), nullptr);
  EXPECT_EQ(agent_pod("nvidia-mig-manager"), "");
  agents_.add_node({.name = "n1", .gpus = 2, .cordoned = true});
  world_.run_for(5min);
  EXPECT_EQ(allocatable(), (Counts{{"nvidia.com/gpu", "2"}}));
  EXPECT_TRUE(true_at(node(), {"spec", "unschedulable"}));
  EXPECT_NE(agent_pod("nvidia-mig-manager"), "");
}

}  // namespace
}  // namespace berth::sim
