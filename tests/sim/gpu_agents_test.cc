// SPDX-License-Identifier: Apache-2.0
// NVIDIA's agents on simulated nodes: what berth relies on when they are well, and each fault they
// are known for.
#include "controller/sim/gpu_agents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "controller/sim/actor_client.h"
#include "controller/sim/object_fields.h"
#include "controller/sim/object_state.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

constexpr char kFile[] = R"(version: v1
mig-configs:
  all-disabled:
  - devices: all
    mig-enabled: false
  halves:
  - devices: all
    mig-enabled: true
    mig-devices:
      3g.40gb: 2
  halves-r1:
  - devices: all
    mig-enabled: true
    mig-devices:
      3g.40gb: 2
  mixed:
  - devices: [0, 1]
    mig-enabled: true
    mig-devices:
      3g.40gb: 1
      1g.10gb: 3
  - devices: [2, 3]
    mig-enabled: false
  impossible:
  - devices: all
    mig-enabled: true
    mig-devices:
      3g.40gb: 2
      1g.10gb: 1
)";

using Amounts = std::map<std::string, std::string>;
const Amounts kWhole = {{"nvidia.com/gpu", "4"}};
const Amounts kHalves = {{"nvidia.com/gpu", "0"}, {"nvidia.com/mig-3g.40gb", "8"}};

class GpuAgentsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.store().observe([this](const Change& change) {
      if (!is(change.key, "nodes") || change.kind == Change::Kind::kDeleted) return;
      const std::string state =
          text_at(*change.after, {"metadata", "labels", "nvidia.com/mig.config.state"});
      if (states_.empty() || states_.back() != state) states_.push_back(state);
    });
    mount(kFile);
    agents_.add_node({.name = "n1"});
    world_.run_for(5min);
    states_.clear();
  }

  void mount(const std::string& file) {
    json map;
    map["metadata"]["name"] = "berth-mig-parted-config";
    map["metadata"]["namespace"] = "gpu-operator";
    map["data"]["config.yaml"] = file;
    ASSERT_TRUE(person_.apply("configmaps", std::move(map), true).ok());
  }
  void set_label(const char* key, const json& value) {
    json body;
    body["metadata"]["labels"][key] = value;
    ASSERT_TRUE(person_.merge_patch("nodes", "", "n1", std::move(body)).ok());
  }
  // As berth asks: the state goes with the request.
  void ask(const char* config) {
    json body;
    body["metadata"]["labels"]["nvidia.com/mig.config"] = config;
    body["metadata"]["labels"]["nvidia.com/mig.config.state"] = nullptr;
    ASSERT_TRUE(person_.merge_patch("nodes", "", "n1", std::move(body)).ok());
  }
  bool run_until_state(const char* state, std::chrono::nanoseconds limit = 10min) {
    return world_.run_until([&] { return this->state() == state; }, limit);
  }
  void roll(const char* config) {
    ask(config);
    ASSERT_TRUE(run_until_state("success"));
    world_.run_for(2min);
    states_.clear();
  }

  json node() const { return *person_.get("nodes", "", "n1"); }
  std::string label(const char* key) const {
    return text_at(*person_.get("nodes", "", "n1"), {"metadata", "labels", key});
  }
  std::string state() const { return label("nvidia.com/mig.config.state"); }
  std::string plugin_label() const { return label("nvidia.com/gpu.deploy.device-plugin"); }
  bool ready() const { return is_true(node(), "Ready"); }
  Amounts amounts(const char* field) const {
    Amounts out;
    const json now = node();
    for (const auto& [key, value] : find_at(now, {"status", field})->items())
      if (key.starts_with("nvidia.com/")) out[key] = value.get<std::string>();
    return out;
  }
  Amounts allocatable() const { return amounts("allocatable"); }
  std::string agent_pod(const std::string& app) const {
    for (const ObjectPtr& pod : person_.list("pods", "gpu-operator"))
      if (text_at(*pod, {"metadata", "labels", "app"}) == app) return name_of(*pod);
    return "";
  }
  void delete_agent_pod(const std::string& app) {
    ASSERT_TRUE(person_.remove("pods", "gpu-operator", agent_pod(app)).ok());
  }
  // A pod of a user, running on the node with a GPU.
  void use_gpu() {
    json pod;
    pod["metadata"]["name"] = "train";
    pod["metadata"]["namespace"] = "default";
    json container;
    container["name"] = "main";
    container["image"] = "registry.example/train:1";
    container["resources"]["limits"]["nvidia.com/gpu"] = "1";
    pod["spec"]["containers"] = json::array({container});
    pod["spec"]["nodeName"] = "n1";
    ASSERT_TRUE(person_.create("pods", std::move(pod)).ok());
    ASSERT_TRUE(world_.run_until(
        [&] {
          return text_at(*person_.get("pods", "default", "train"), {"status", "phase"}) ==
                 "Running";
        },
        1min));
  }

  Simulation world_{7};
  KubeActors kube_{world_, {}};
  GpuAgents agents_{world_, kube_, {}};
  ActorClient person_{world_.server(), "person"};
  std::vector<std::string> states_;  // of the label, as they followed each other
};

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

TEST_F(GpuAgentsTest, ANewLabelCutsTheGpusAndTheDevicesFollowLater) {
  const std::string discovered = label("nvidia.com/gfd.timestamp");
  ask("halves");
  ASSERT_TRUE(run_until_state("pending"));
  EXPECT_EQ(plugin_label(), "paused-for-mig-change");
  ASSERT_TRUE(run_until_state("success"));
  EXPECT_EQ(plugin_label(), "true");
  EXPECT_EQ(allocatable(), (Amounts{{"nvidia.com/gpu", "0"}}))
      << "success comes before the devices";
  EXPECT_EQ(label("nvidia.com/mig-3g.40gb.count"), "") << "and before the labels";
  EXPECT_EQ(agents_.devices("n1"), (std::map<std::string, int>{{"nvidia.com/mig-3g.40gb", 8}}));
  world_.run_for(2min);
  EXPECT_EQ(allocatable(), kHalves);
  EXPECT_EQ(label("nvidia.com/mig-3g.40gb.count"), "8");
  EXPECT_NE(label("nvidia.com/gfd.timestamp"), discovered);
  EXPECT_THAT(states_, ElementsAre("", "pending", "success"));
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
  EXPECT_EQ(allocatable(), (Amounts{{"nvidia.com/gpu", "2"},
                                    {"nvidia.com/mig-1g.10gb", "6"},
                                    {"nvidia.com/mig-3g.40gb", "2"}}));
}

TEST_F(GpuAgentsTest, AResourceThatWentStaysInCapacityForFiveMinutesAndItsKeyForEver) {
  roll("halves");
  EXPECT_EQ(amounts("capacity"),
            (Amounts{{"nvidia.com/gpu", "4"}, {"nvidia.com/mig-3g.40gb", "8"}}));
  world_.run_for(6min);
  EXPECT_EQ(amounts("capacity"), kHalves);
  EXPECT_EQ(allocatable(), kHalves);
}

TEST_F(GpuAgentsTest, WhatIsInForceAlreadyIsASuccessWithoutAPause) {
  roll("halves");
  const std::string plugin = agent_pod("nvidia-device-plugin-daemonset");
  ask("halves-r1");
  ASSERT_TRUE(run_until_state("success"));
  EXPECT_THAT(states_, ElementsAre("", "success"));
  EXPECT_EQ(agent_pod("nvidia-device-plugin-daemonset"), plugin);
}

TEST_F(GpuAgentsTest, AnUnknownConfigFailsAtOnce) {
  ask("thirds");
  ASSERT_TRUE(run_until_state("failed", 2s));
  EXPECT_THAT(states_, ElementsAre("", "failed"));
  EXPECT_EQ(allocatable(), kWhole);
}

TEST_F(GpuAgentsTest, AConfigThatJustCameIsUnknownUntilTheFileIsMountedAgain) {
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

TEST_F(GpuAgentsTest, AnAgentThatStartsMountsTheFileAsItIs) {
  mount(std::string(kFile) +
        "  late:\n  - {devices: all, mig-enabled: true, mig-devices: {7g.80gb: 1}}\n");
  ask("late");
  ASSERT_TRUE(run_until_state("failed", 2s));
  delete_agent_pod("nvidia-mig-manager");
  ASSERT_TRUE(run_until_state("success", 50s));
}

TEST_F(GpuAgentsTest, ALayoutThatDoesNotFitFailsAndLeavesTheGpuCleared) {
  ask("impossible");
  ASSERT_TRUE(run_until_state("failed"));
  EXPECT_EQ(plugin_label(), "true");
  EXPECT_TRUE(agents_.devices("n1").contains("nvidia.com/gpu") == false);
  world_.run_for(2min);
  EXPECT_EQ(allocatable(), (Amounts{{"nvidia.com/gpu", "0"}}));
}

TEST_F(GpuAgentsTest, AGpuInUseIsNotCut) {
  use_gpu();
  ask("halves");
  ASSERT_TRUE(run_until_state("failed"));
  EXPECT_EQ(plugin_label(), "true");
  EXPECT_EQ(agents_.devices("n1"), (std::map<std::string, int>{{"nvidia.com/gpu", 4}}));
}

TEST_F(GpuAgentsTest, AFailureAfterARunThatWentWellLeavesTheLabelsPaused) {
  roll("halves");
  ask("impossible");
  ASSERT_TRUE(run_until_state("failed"));
  world_.run_for(1h);
  EXPECT_EQ(plugin_label(), "paused-for-mig-change");
  EXPECT_EQ(agent_pod("nvidia-device-plugin-daemonset"), "");
}

TEST_F(GpuAgentsTest, AWedgedAgentStaysPendingUntilItsPodIsDeleted) {
  agents_.inject("n1", AgentFault::kWedge, 1);
  ask("halves");
  world_.run_for(1h);
  EXPECT_EQ(state(), "pending");
  EXPECT_EQ(plugin_label(), "paused-for-mig-change");
  EXPECT_EQ(allocatable(), (Amounts{{"nvidia.com/gpu", "0"}}));
  delete_agent_pod("nvidia-mig-manager");
  ASSERT_TRUE(run_until_state("success"));
  world_.run_for(1min);
  EXPECT_EQ(allocatable(), kHalves);
}

TEST_F(GpuAgentsTest, APluginThatDoesNotGoWedgesTheAgent) {
  kube_.hang("gpu-operator", agent_pod("nvidia-device-plugin-daemonset"));
  ask("halves");
  world_.run_for(1h);
  EXPECT_EQ(state(), "pending");
  EXPECT_EQ(agents_.devices("n1"), (std::map<std::string, int>{{"nvidia.com/gpu", 4}}));
}

TEST_F(GpuAgentsTest, AFaultCanHitEachRun) {
  agents_.inject("n1", AgentFault::kFail, -1);
  for (const char* config : {"halves", "halves-r1", "mixed"}) {
    ask(config);
    ASSERT_TRUE(run_until_state("failed")) << config;
    EXPECT_EQ(plugin_label(), "true");
  }
  world_.run_for(2min);
  EXPECT_EQ(allocatable(), kWhole);
}

TEST_F(GpuAgentsTest, AFaultForOneRunIsOverWithIt) {
  agents_.inject("n1", AgentFault::kFail, 1);
  ask("halves");
  ASSERT_TRUE(run_until_state("failed"));
  ask("halves-r1");
  ASSERT_TRUE(run_until_state("success"));
}

TEST_F(GpuAgentsTest, AFailureCanLeaveTheLabelsPausedUntilARunGoesWell) {
  agents_.inject("n1", AgentFault::kFailLabelsPaused, 1);
  ask("halves");
  ASSERT_TRUE(run_until_state("failed"));
  world_.run_for(10min);
  EXPECT_EQ(plugin_label(), "paused-for-mig-change");
  EXPECT_EQ(allocatable(), (Amounts{{"nvidia.com/gpu", "0"}}));
  ask("halves-r1");
  ASSERT_TRUE(run_until_state("success"));
  EXPECT_EQ(plugin_label(), "true");
}

TEST_F(GpuAgentsTest, ALieIsASuccessWithoutDevices) {
  agents_.inject("n1", AgentFault::kLie, 1);
  roll("halves");
  EXPECT_EQ(state(), "success");
  EXPECT_EQ(allocatable(), (Amounts{{"nvidia.com/gpu", "0"}}));
  EXPECT_TRUE(agents_.devices("n1").empty());
}

TEST_F(GpuAgentsTest, AStaleSuccessSpeaksOfTheRunBefore) {
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

TEST_F(GpuAgentsTest, ASlowAgentTakesTenTimesAsLong) {
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

TEST_F(GpuAgentsTest, AModeChangeThatNeedsARebootGoesOnAfterIt) {
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

TEST_F(GpuAgentsTest, AfterARebootInstancesAreMadeAgainAlsoUnderPodsThatHadSome) {
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

TEST_F(GpuAgentsTest, ARebootInTheMiddleOfARunBeginsItAnew) {
  ask("halves");
  ASSERT_TRUE(run_until_state("pending"));
  agents_.reboot("n1");
  world_.run_for(30s);
  EXPECT_EQ(state(), "pending");
  ASSERT_TRUE(run_until_state("success"));
  EXPECT_EQ(agents_.devices("n1"), (std::map<std::string, int>{{"nvidia.com/mig-3g.40gb", 8}}));
}

TEST_F(GpuAgentsTest, WhileTheKubeletIsDeadNothingOnTheNodeActs) {
  ask("halves");
  ASSERT_TRUE(run_until_state("pending"));
  kube_.stop_kubelet("n1");
  world_.run_for(2min);
  EXPECT_EQ(state(), "pending");
  EXPECT_FALSE(ready());
  kube_.start_kubelet("n1");
  ASSERT_TRUE(run_until_state("success"));
}

TEST_F(GpuAgentsTest, WithoutPluginNothingCanBeAllocated) {
  set_label("nvidia.com/gpu.deploy.device-plugin", "paused-for-driver-upgrade");
  world_.run_for(10s);
  EXPECT_EQ(allocatable(), (Amounts{{"nvidia.com/gpu", "0"}}));
  EXPECT_EQ(amounts("capacity"), kWhole);
  set_label("nvidia.com/gpu.deploy.device-plugin", "true");
  world_.run_for(10s);
  EXPECT_EQ(allocatable(), kWhole);
}

TEST_F(GpuAgentsTest, WithoutMigManagerALabelHasNoEffect) {
  set_label("nvidia.com/gpu.deploy.mig-manager", "paused-for-driver-upgrade");
  world_.run_for(10s);
  ask("halves");
  world_.run_for(10min);
  EXPECT_EQ(state(), "");
  set_label("nvidia.com/gpu.deploy.mig-manager", "true");
  EXPECT_TRUE(run_until_state("success"));
}

TEST_F(GpuAgentsTest, TheOperatorFillsInAnEmptyConfig) {
  roll("halves");
  set_label("nvidia.com/mig.config", nullptr);
  world_.run_for(10min);
  EXPECT_EQ(label("nvidia.com/mig.config"), "all-disabled");
  EXPECT_EQ(agents_.devices("n1"), (std::map<std::string, int>{{"nvidia.com/gpu", 4}}));
}

TEST_F(GpuAgentsTest, WhatComesDuringARunCountsOnlyIfItDiffersInTheEnd) {
  ask("halves");
  ASSERT_TRUE(run_until_state("pending"));
  set_label("nvidia.com/mig.config", "mixed");
  world_.run_for(1s);
  set_label("nvidia.com/mig.config", "halves");
  world_.run_for(10min);
  EXPECT_THAT(states_, ElementsAre("", "pending", "success"));
  EXPECT_EQ(allocatable(), kHalves);
}

TEST_F(GpuAgentsTest, ALabelRemovedDuringARunMakesOneWithoutAName) {
  ask("halves");
  ASSERT_TRUE(run_until_state("pending"));
  set_label("nvidia.com/gpu.deploy.mig-manager", "true");
  set_label("nvidia.com/mig.config", nullptr);
  world_.run_for(10min);
  // The operator is faster than the run: what mig-manager reads in the end is all-disabled.
  EXPECT_THAT(states_, ElementsAre("", "pending", "success", "pending", "success"));
  EXPECT_EQ(allocatable()["nvidia.com/gpu"], "4");
}

TEST_F(GpuAgentsTest, DiscoveryPutsItsLabelsRightWithinAMinute) {
  set_label("nvidia.com/gpu.count", "17");
  world_.run_for(70s);
  EXPECT_EQ(label("nvidia.com/gpu.count"), "4");
}

TEST_F(GpuAgentsTest, AMachineUnderAnOldNameStartsWithMigOff) {
  roll("halves");
  agents_.reboot("n1");
  world_.run_for(1s);
  agents_.remove_node("n1");
  world_.run_for(1min);
  EXPECT_EQ(person_.get("nodes", "", "n1"), nullptr);
  EXPECT_EQ(agent_pod("nvidia-mig-manager"), "");
  agents_.add_node({.name = "n1", .gpus = 2, .cordoned = true});
  world_.run_for(5min);
  EXPECT_EQ(allocatable(), (Amounts{{"nvidia.com/gpu", "2"}}));
  EXPECT_TRUE(true_at(node(), {"spec", "unschedulable"}));
  EXPECT_NE(agent_pod("nvidia-mig-manager"), "");
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
