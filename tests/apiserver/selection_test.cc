// SPDX-License-Identifier: Apache-2.0
// Nodes that are added, removed and deselected, and what a layout's owner may do while one of them
// is in progress or has failed.
#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTier[] = "node.example.com/tier";
constexpr char kFault[] = "test.berth.dev/fault";
constexpr char kMigConfig[] = "nvidia.com/mig.config";

class Selection : public RolloutTest {
 protected:
  void begin(int nodes, const std::string& fault = "") {
    GpuNode like{.labels = {{kTier, "mig"}}};
    if (!fault.empty()) like.annotations[kFault] = fault;
    cluster().add_gpu_nodes(nodes, like);
    cluster().wait_agents_running();
    start_berth();
    apply({.node_selector = std::string("{matchLabels: {") + kTier + ": mig}}"});
  }
  void pause(bool paused) {
    kube().patch(
        {"miglayouts", "inference-a100"}, PatchType::kMerge,
        std::string(R"({"spec": {"rollout": {"paused": )") + (paused ? "true}}}" : "false}}}"));
  }
  void wait_gone() {
    wait_for("the layout to be gone", 40, [&]() -> std::string {
      auto found = kube().find({"miglayouts", "inference-a100"});
      return found ? found->at("/status").dump() : "";
    });
  }
  void wait_no_slot() {
    wait_for("every slot to be free", 20, [&]() -> std::string {
      const Object slots = kube().get({"configmaps", "berth-node-slots", "berth-system"});
      return slots.strings("/data").empty() ? "" : slots.at("/data").dump();
    });
  }
  void wait_counts(int selected, int updated) {
    wait_for("the counts to follow", 40, [&]() -> std::string {
      const Object status = layout().at("/status");
      return status.number("/nodes/selected") == selected &&
                     status.number("/nodes/updated") == updated
                 ? ""
                 : status.dump();
    });
  }
};

TEST_F(Selection, ANodeThatLeavesInMidDrainIsPutBack) {
  cluster().add_gpu_nodes(1, {.labels = {{kTier, "mig"}}});
  cluster().wait_agents_running();
  cluster().add_deployment({.name = "slow", .annotations = {{"test.berth.dev/linger", "true"}}});
  cluster().wait_pods_running("team-a", "slow", 1);
  start_berth();
  apply({.node_selector = std::string("{matchLabels: {") + kTier + ": mig}}"});
  wait_reason("n1", "PodsLeaving");
  kube().set_label({"nodes", "n1"}, kTier, "other");
  wait_phase("n1", "Idle");
  EXPECT_FALSE(cordoned("n1"));
  EXPECT_EQ(kube().get({"nodes", "n1"}).label(kMigConfig), "all-disabled");
  wait_counts(0, 0);
  EXPECT_EQ(layout().condition("Ready", "reason"), "NoNodesSelected");
  wait_no_slot();
}

TEST_F(Selection, ANodeThatLeavesWhileTheAgentWorksIsFinishedAndReturned) {
  begin(2, "slow:1500");
  wait_phase("n1", "Applying");
  kube().set_label({"nodes", "n1"}, kTier, "other");
  wait_phase("n1", "Idle");
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
  EXPECT_FALSE(cordoned("n1"));
  wait_ready();
  wait_counts(1, 1);
  wait_no_slot();
}

TEST_F(Selection, NodesThatComeLaterAreTakenUp) {
  begin(1);
  wait_ready();
  cluster().add_gpu_node({.name = "n2", .labels = {{kTier, "mig"}}});
  wait_counts(2, 2);
  EXPECT_EQ(cluster().gpu_allocatable("n2"), kMixedA100);
  // A removed node leaves no trace.
  cluster().remove_node("n2");
  wait_counts(1, 1);
  wait_ready();
  wait_no_slot();
}

TEST_F(Selection, ANodeThatIsNotReadyIsWaitedForAndCountsAsOut) {
  cluster().add_gpu_nodes(2, {.labels = {{kTier, "mig"}}});
  cluster().wait_agents_running();
  kube().set_annotation({"nodes", "n1"}, "test.berth.dev/not-ready", "true");
  kube().patch({"nodes", "n1"}, PatchType::kStrategic,
               R"({"status": {"conditions": [{"type": "Ready", "status": "False",
                   "reason": "Test", "message": "as the test says"}]}})",
               "status");
  start_berth();
  apply({});
  wait_reason("n1", "NodeNotReady");
  wait_reason("n2", "MaxUnavailable");
  EXPECT_THAT(detail("n2"), HasSubstr("n1 (not Ready)"));
  EXPECT_THAT(cordon_order(), ElementsAre());
  kube().set_annotation({"nodes", "n1"}, "test.berth.dev/not-ready", "");
  kube().patch({"nodes", "n1"}, PatchType::kStrategic,
               R"({"status": {"conditions": [{"type": "Ready", "status": "True",
                   "reason": "Test", "message": "as the test says"}]}})",
               "status");
  wait_ready();
}

TEST_F(Selection, PausedWhileTheAgentWorksTheNodeIsFinishedAndNoOtherTaken) {
  begin(2, "slow:1500");
  wait_phase("n1", "Applying");
  pause(true);
  wait_counts(2, 1);
  wait_reason("n2", "Paused");
  EXPECT_FALSE(cordoned("n1"));
  EXPECT_THAT(cordon_order(), ElementsAre("n1"));
  wait_no_slot();
  pause(false);
  wait_ready();
}

TEST_F(Selection, DeletedWhileANodeIsFailedItIsReleasedCordoned) {
  begin(2, "fail");
  wait_phase("n1", "Failed", 60);
  wait_condition("Stalled", "True");
  kube().remove({"miglayouts", "inference-a100"});
  wait_gone();
  EXPECT_TRUE(cordoned("n1"));
  EXPECT_EQ(phase("n1"), "Idle");
  invariants_.all_returned = false;  // a user must look at it
  wait_no_slot();
  wait_for("an event that says so", 20, [&]() -> std::string {
    for (const Object& event : kube().list("events", "default"))
      if (event.text("/reason") == "Released" && event.text("/involvedObject/name") == "n1")
        return "";
    return "there is none";
  });

  // With the same layout again, berth finds it unavailable; once repaired, it returns: the cordon
  // is berth's.
  kube().set_annotation({"nodes", "n1"}, kFault, "");
  kube().set_annotation({"nodes", "n2"}, kFault, "");
  invariants_.max_unavailable = 2;
  apply({.devices = "  - profiles: {7g.80gb: 1}\n", .rollout = {"maxUnavailable: 2"}});
  wait_ready();
  EXPECT_FALSE(cordoned("n1"));
  EXPECT_FALSE(cordoned("n2"));
}

TEST_F(Selection, EditedWhileANodeIsFailedItGoesOnToTheNewTarget) {
  begin(2, "fail");
  wait_phase("n1", "Failed", 60);
  wait_reason("n2", "LayoutHalted");
  for (const char* node : {"n1", "n2"}) kube().set_annotation({"nodes", node}, kFault, "");
  kube().patch({"miglayouts", "inference-a100"}, PatchType::kMerge,
               R"({"spec": {"devices": [{"profiles": {"7g.80gb": 1}}]}})");
  wait_ready();
  for (const char* node : {"n1", "n2"}) {
    EXPECT_FALSE(cordoned(node)) << node;
    EXPECT_THAT(cluster().gpu_allocatable(node),
                ElementsAre(std::make_pair("nvidia.com/mig-7g.80gb", 4)));
  }
  EXPECT_THAT(cordon_order(), ElementsAre("n1", "n2"));
}

}  // namespace
}  // namespace berth::test
