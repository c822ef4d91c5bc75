// SPDX-License-Identifier: Apache-2.0
// NVIDIA's components on a simulated node in addition to mig-manager: the device plugin, feature
// discovery and the operator; and all of them together.
#include "tests/sim/gpu_agents_fixture.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class GpuAgentsTest : public GpuAgentsFixture {};

TEST_F(GpuAgentsTest, ANewNodeOffersWholeGpus) {
  EXPECT_EQ(allocatable(), kWhole);
  EXPECT_EQ(state(), "success");
  EXPECT_EQ(label("nvidia.com/mig.config"), "all-disabled");
  EXPECT_EQ(label("nvidia.com/mig.strategy"), "mixed");
  EXPECT_EQ(label("nvidia.com/gpu.count"), "4");
  EXPECT_TRUE(ready());
  for (const char* app :
       {"nvidia-mig-manager", "nvidia-device-plugin-daemonset", "gpu-feature-discovery"})
    EXPECT_NE(agent_pod(app), "") << app;
}

TEST_F(GpuAgentsTest, SeveralResourcesAreRegisteredOneAfterTheOther) {
  ask("mixed");
  ASSERT_TRUE(run_until_state("success"));
  std::vector<std::size_t> offered;
  world_.store().observe([&](const Change& change) {
    if (!is(change.key, "nodes")) return;
    std::size_t count = 0;
    for (const auto& [resource, amount] : allocatable()) count += amount != "0";
    if (offered.empty() || offered.back() != count) offered.push_back(count);
  });
  world_.run_for(2min);
  EXPECT_THAT(offered, ElementsAre(1, 2, 3));
  EXPECT_EQ(allocatable(), (Counts{{"nvidia.com/gpu", "2"},
                                   {"nvidia.com/mig-1g.10gb", "6"},
                                   {"nvidia.com/mig-3g.40gb", "2"}}));
}

TEST_F(GpuAgentsTest, AResourceThatWentStaysInCapacityForFiveMinutesAndItsKeyForEver) {
  roll("halves");
  EXPECT_EQ(amounts("capacity"),
            (Counts{{"nvidia.com/gpu", "4"}, {"nvidia.com/mig-3g.40gb", "8"}}));
  world_.run_for(6min);
  EXPECT_EQ(amounts("capacity"), kHalves);
  EXPECT_EQ(allocatable(), kHalves);
}

TEST_F(GpuAgentsTest, WithoutPluginNothingCanBeAllocated) {
  set_label("nvidia.com/gpu.deploy.device-plugin", "paused-for-driver-upgrade");
  world_.run_for(10s);
  EXPECT_EQ(allocatable(), (Counts{{"nvidia.com/gpu", "0"}}));
  EXPECT_EQ(amounts("capacity"), kWhole);
  set_label("nvidia.com/gpu.deploy.device-plugin", "true");
  world_.run_for(10s);
  EXPECT_EQ(allocatable(), kWhole);
}

TEST_F(GpuAgentsTest, TheOperatorFillsInAnEmptyConfig) {
  roll("halves");
  set_label("nvidia.com/mig.config", nullptr);
  world_.run_for(10min);
  EXPECT_EQ(label("nvidia.com/mig.config"), "all-disabled");
  EXPECT_EQ(agents_.devices("n1"), (std::map<std::string, int>{{"nvidia.com/gpu", 4}}));
}

TEST_F(GpuAgentsTest, DiscoveryPutsItsLabelsRightWithinAMinute) {
  set_label("nvidia.com/gpu.count", "17");
  world_.run_for(70s);
  EXPECT_EQ(label("nvidia.com/gpu.count"), "4");
}

TEST_F(GpuAgentsTest, WhenAllIsDoneNobodyWritesButTheKubeletsHeartbeat) {
  roll("halves");
  world_.run_for(10min);
  std::map<std::string, int> writes;
  world_.store().observe([&](const Change& change) { ++writes[change.user]; });
  world_.run_for(1h);
  writes.erase("kubelet");
  EXPECT_TRUE(writes.empty()) << writes.begin()->first;
}

TEST(GpuAgentsSeed, EqualSeedsGiveEqualWorlds) {
  const auto run = [](std::uint64_t seed) {
    Simulation world(seed);
    KubeActors kube(world, {});
    GpuAgents agents(world, kube, {});
    std::string transcript;
    world.store().observe([&](const Change& change) {
      transcript +=
          change.key.str() + " " + change.user + " " + std::to_string(world.now().count()) + "\n";
    });
    for (const char* name : {"n1", "n2"}) agents.add_node({.name = name});
    world.run_for(10min);
    return transcript;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

}  // namespace
}  // namespace berth::sim
