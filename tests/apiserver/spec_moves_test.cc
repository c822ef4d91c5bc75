// SPDX-License-Identifier: Apache-2.0
// The layout or the node changes while the node is being drained or repartitioned.
#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kMigConfig[] = "nvidia.com/mig.config";
constexpr char kSmall[] = "  - profiles: {1g.10gb: 7}\n";
const std::map<std::string, int> kSmallA100 = {{"nvidia.com/mig-1g.10gb", 28}};

class SpecMoves : public RolloutTest {
 protected:
  // One or two nodes. n1 has a pod that stays Terminating after its eviction, so the node stays in
  // its drain until let_go(). berth runs, and the layout is applied.
  void begin(int nodes = 1) {
    cluster().add_gpu_nodes(nodes, {});
    cluster().wait_agents_running();
    cluster().add_deployment({.name = "slow",
                              .node_selector = {{"kubernetes.io/hostname", "n1"}},
                              .annotations = {{"test.berth.dev/linger", "true"}}});
    cluster().wait_pods_running("team-a", "slow", 1);
    start_berth();
    apply({.node_selector = "{matchLabels: {kubernetes.io/hostname: n1}}"});
    wait_reason("n1", "PodsLeaving");
    EXPECT_TRUE(cordoned("n1"));
  }
  void let_go() { cluster().remove_deployment("team-a", "slow"); }
  void wait_restored() {
    wait_phase("n1", "Idle");
    EXPECT_FALSE(cordoned("n1"));
    EXPECT_EQ(kube().get({"nodes", "n1"}).label(kMigConfig), "all-disabled");
    wait_for("every slot to be free", 20, [&]() -> std::string {
      const Object slots = kube().get({"configmaps", "berth-node-slots", "berth-system"});
      return slots.strings("/data").empty() ? "" : slots.at("/data").dump();
    });
  }
  void wait_gone(const std::string& layout_name = "inference-a100") {
    wait_for("the layout to be gone", 40, [&]() -> std::string {
      auto found = kube().find({"miglayouts", layout_name});
      return found ? found->at("/status").dump() : "";
    });
  }
  // The values that berth wrote to the node's nvidia.com/mig.config, in order.
  std::vector<std::string> labels_written(const std::string& node) {
    std::vector<std::string> labels;
    for (const AuditEvent& event : writes()) {
      if (event.resource != "nodes" || event.name != node) continue;
      const std::string label = event.response.label(kMigConfig);
      if (label != (labels.empty() ? "all-disabled" : labels.back())) labels.push_back(label);
    }
    return labels;
  }
  std::string config_of(const std::string& name = "inference-a100") {
    return layout(name).items("/status/configs").at(0).text("/name");
  }
  void patch_layout(const std::string& spec) {
    kube().patch({"miglayouts", "inference-a100"}, PatchType::kMerge, R"({"spec": )" + spec + "}");
  }
};

TEST_F(SpecMoves, EditedInMidDrainTheNodeGetsWhatIsAskedForNow) {
  begin();
  patch_layout(R"({"devices": [{"profiles": {"1g.10gb": 7}}]})");
  let_go();
  wait_ready();
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kSmallA100);
  EXPECT_THAT(labels_written("n1"), ElementsAre(config_of()));
  EXPECT_THAT(cordon_order(), ElementsAre("n1"));
}

TEST_F(SpecMoves, EditedToWhatTheNodeCantBeItIsPutBack) {
  begin();
  patch_layout(R"({"devices": [{"profiles": {"7g.80gb": 2}}]})");
  wait_restored();
  wait_condition("Stalled", "True");
  EXPECT_THAT(detail("n1"), HasSubstr("7g.80gb"));
  patch_layout(R"({"devices": [{"profiles": {"7g.80gb": 1}}]})");
  let_go();
  wait_ready();
}

TEST_F(SpecMoves, EditedWhileTheAgentWorksTheNodeGoesOnWithoutComingBackBetween) {
  cluster().add_gpu_node({.name = "n1", .annotations = {{"test.berth.dev/fault", "slow:1500"}}});
  cluster().wait_agents_running();
  start_berth();
  apply({});
  wait_phase("n1", "Applying");
  const std::string first = config_of();
  patch_layout(R"({"devices": [{"profiles": {"1g.10gb": 7}}]})");
  wait_ready();
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kSmallA100);
  EXPECT_THAT(labels_written("n1"), ElementsAre(first, config_of()));
  int uncordons = 0;
  bool out = false;
  for (const AuditEvent& event : writes()) {
    if (event.resource != "nodes") continue;
    if (out && !event.response.truth("/spec/unschedulable")) ++uncordons;
    out = event.response.truth("/spec/unschedulable");
  }
  EXPECT_EQ(uncordons, 1);
}

TEST_F(SpecMoves, PausedInMidDrainTheNodeIsPutBack) {
  begin();
  patch_layout(R"({"rollout": {"paused": true}})");
  wait_restored();
  wait_reason("n1", "Paused");
  EXPECT_EQ(layout().condition("Ready", "reason"), "Paused");
  let_go();
  patch_layout(R"({"rollout": {"paused": false}})");
  wait_ready();
}

TEST_F(SpecMoves, DeletedInMidDrainTheNodeIsPutBackAndTheLayoutGoes) {
  begin();
  kube().remove({"miglayouts", "inference-a100"});
  wait_restored();
  wait_gone();
  EXPECT_THAT(labels_written("n1"), IsEmpty());
}

TEST_F(SpecMoves, DeletedWhileTheAgentWorksTheNodeIsFinishedFirst) {
  cluster().add_gpu_nodes(2, {.annotations = {{"test.berth.dev/fault", "slow:1500"}}});
  cluster().wait_agents_running();
  start_berth();
  apply({});
  wait_phase("n1", "Applying");
  kube().remove({"miglayouts", "inference-a100"});
  wait_gone();
  EXPECT_EQ(phase("n1"), "Idle");
  EXPECT_FALSE(cordoned("n1"));
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
  EXPECT_EQ(phase("n2"), "");
}

TEST_F(SpecMoves, DeletedUnderDisableMIGEveryNodeIsSwitchedOffFirst) {
  cluster().add_gpu_nodes(2, {});
  cluster().wait_agents_running();
  start_berth();
  apply({.spec = {"deletionPolicy: DisableMIG"}});
  wait_ready();
  kube().remove({"miglayouts", "inference-a100"});
  wait_gone();
  for (const char* node : {"n1", "n2"}) {
    EXPECT_THAT(cluster().gpu_allocatable(node), ElementsAre(std::make_pair("nvidia.com/gpu", 4)));
    EXPECT_FALSE(cordoned(node)) << node;
  }
}

TEST_F(SpecMoves, AnotherLayoutOfHigherPriorityTakesTheNodeOverInMidDrain) {
  begin(2);
  apply({.name = "batch", .devices = kSmall, .spec = {"priority: 10"}});
  invariants_.max_unavailable = 2;  // each layout has its own budget
  wait_for("the first layout to have lost its only node", 20, [&]() -> std::string {
    const Object status = layout().at("/status");
    return status.number("/nodes/selected") == 0 ? "" : status.dump();
  });
  EXPECT_THAT(layout().condition("Ready", "message"), HasSubstr("n1 (batch: priority 10 over 0)"));
  let_go();
  wait_ready("batch");
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kSmallA100);
  EXPECT_EQ(cluster().gpu_allocatable("n2"), kSmallA100);
  EXPECT_THAT(labels_written("n1"), ElementsAre(config_of("batch")));

  // Once the winner is deleted, the loser owns its node again.
  kube().remove({"miglayouts", "batch"});
  wait_gone("batch");
  wait_ready();
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
}

TEST_F(SpecMoves, ANodeReCreatedUnderTheSameNameIsANewNode) {
  begin();
  const std::string old_uid = kube().get({"nodes", "n1"}).uid();
  kube().remove({"deployments", "slow", "team-a"}, R"({"propagationPolicy": "Background"})");
  cluster().remove_node("n1");
  cluster().add_gpu_node({.name = "n1"});
  cluster().wait_agents_running();
  wait_ready();
  const Object node = kube().get({"nodes", "n1"});
  EXPECT_NE(node.uid(), old_uid);
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
  EXPECT_EQ(Object::parse(node.annotation("gpu.berth.dev/mig-rollout")).number("/seq"), 1);
  wait_for("its slot to be free", 20, [&]() -> std::string {
    return kube().get({"configmaps", "berth-node-slots", "berth-system"}).strings("/data").empty()
               ? ""
               : "it is taken";
  });
}

}  // namespace
}  // namespace berth::test
