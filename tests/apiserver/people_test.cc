// SPDX-License-Identifier: Apache-2.0
// Users, NVIDIA's operator and autoscalers also decide about nodes, and their decisions have
// priority over berth's.
#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;

constexpr char kHold[] = "gpu.berth.dev/hold";
constexpr char kMigConfig[] = "nvidia.com/mig.config";
constexpr char kUpgrade[] = "nvidia.com/gpu-driver-upgrade-state";

class People : public RolloutTest {
 protected:
  void add_nodes(int count) {
    nodes_ = cluster().add_gpu_nodes(count, {});
    cluster().wait_agents_running();
  }

  // A Deployment's pod on the node that stays Terminating after its eviction: the drain lasts until
  // let_go().
  void hold_drain_of(const std::string& node) {
    cluster().add_deployment({.name = "slow",
                              .node_selector = {{"kubernetes.io/hostname", node}},
                              .annotations = {{"test.berth.dev/linger", "true"}}});
    cluster().wait_pods_running("team-a", "slow", 1);
  }
  void let_go() { cluster().remove_deployment("team-a", "slow"); }

  void set_taints(const std::string& node, const std::string& taints) {
    kube().patch({"nodes", node}, PatchType::kMerge, R"({"spec": {"taints": )" + taints + "}}");
  }
  bool touched(const std::string& node) {
    const auto all = writes();
    return std::any_of(all.begin(), all.end(), [&](const AuditEvent& event) {
      return event.resource == "nodes" && event.name == node;
    });
  }
  std::map<std::string, std::string> slots() {
    return kube().get({"configmaps", "berth-node-slots", "berth-system"}).strings("/data");
  }
  void wait_no_slot() {
    wait_for("every slot to be free", 20,
             [&]() -> std::string { return slots().empty() ? "" : slots().begin()->first; });
  }

  std::vector<std::string> nodes_;
};

TEST_F(People, ANodeCordonedBeforeIsRepartitionedAndStaysCordoned) {
  nodes_ = cluster().add_gpu_nodes(2, {});
  cluster().add_gpu_node({.name = "n3", .cordoned = true});
  cluster().wait_agents_running();
  start_berth();
  // The unavailable node counts already, so that berth claims only one of the two others at a time:
  // the checker's limit is 1.
  apply({.rollout = {"maxUnavailable: 2"}});
  wait_ready();
  for (const char* node : {"n1", "n2", "n3"})
    EXPECT_EQ(cluster().gpu_allocatable(node), kMixedA100) << node;
  EXPECT_TRUE(cordoned("n3"));
  EXPECT_FALSE(cordoned("n1"));
  EXPECT_FALSE(cordoned("n2"));
  wait_no_slot();
}

TEST_F(People, NodesThatOthersClaimAreLeftAloneUntilTheyLetGo) {
  add_nodes(4);
  kube().set_annotation({"nodes", "n2"}, kHold, "ask Zoë first");
  kube().set_label({"nodes", "n3"}, kUpgrade, "pod-restart-required");
  set_taints("n4", R"([{"key": "ToBeDeletedByClusterAutoscaler", "effect": "PreferNoSchedule"}])");
  start_berth();
  apply({.rollout = {"maxUnavailable: 4"}});
  invariants_.max_unavailable = 4;
  wait_reason("n2", "Held");
  wait_reason("n3", "UpgradeInProgress");
  wait_reason("n4", "AutoscalerDeleting");
  EXPECT_THAT(detail("n2"), HasSubstr("ask Zoë first"));
  EXPECT_THAT(detail("n3"), HasSubstr("pod-restart-required"));
  wait_for("n1 to be updated", 40, [&]() -> std::string {
    const Object status = layout().at("/status");
    return status.number("/nodes/updated") == 1 ? "" : status.dump();
  });
  EXPECT_EQ(layout().number("/status/nodes/blocked"), 1);  // its owner can solve the problem of n2
  EXPECT_EQ(layout().number("/status/nodes/pending"), 2);
  for (const char* node : {"n2", "n3", "n4"}) EXPECT_FALSE(touched(node)) << node;

  kube().set_annotation({"nodes", "n2"}, kHold, "");
  kube().set_label({"nodes", "n3"}, kUpgrade, "upgrade-done");
  set_taints("n4", "null");
  wait_ready();
  EXPECT_EQ(cluster().gpu_allocatable("n4"), kMixedA100);
}

TEST_F(People, AnUncordonByHandInMidDrainBecomesAHold) {
  add_nodes(1);
  hold_drain_of("n1");
  start_berth();
  apply({});
  wait_reason("n1", "PodsLeaving");
  kube().cordon("n1", false);
  wait_reason("n1", "Held");
  EXPECT_EQ(phase("n1"), "Idle");
  EXPECT_THAT(kube().get({"nodes", "n1"}).annotation(kHold), HasSubstr("uncordoned by hand"));
  EXPECT_FALSE(cordoned("n1"));
  EXPECT_EQ(kube().get({"nodes", "n1"}).label(kMigConfig), "all-disabled");
  wait_no_slot();

  let_go();
  kube().set_annotation({"nodes", "n1"}, kHold, "");
  wait_ready();
  EXPECT_FALSE(cordoned("n1"));
}

TEST_F(People, AHoldOrADriverUpgradeInMidDrainStopsItWhereItIs) {
  add_nodes(1);
  hold_drain_of("n1");
  start_berth();
  apply({});
  wait_reason("n1", "PodsLeaving");
  kube().set_label({"nodes", "n1"}, kUpgrade, "cordon-required");
  wait_reason("n1", "UpgradeInProgress");
  kube().set_annotation({"nodes", "n1"}, kHold, "yes");
  wait_reason("n1", "Held");
  let_go();  // the node is empty now, and still not repartitioned
  kube().set_label({"nodes", "n1"}, kUpgrade, "upgrade-done");
  EXPECT_TRUE(cordoned("n1"));
  EXPECT_EQ(kube().get({"nodes", "n1"}).label(kMigConfig), "all-disabled");
  EXPECT_EQ(reason("n1"), "Held");

  kube().set_annotation({"nodes", "n1"}, kHold, "");
  wait_ready();
  EXPECT_FALSE(cordoned("n1"));
}

TEST_F(People, AForeignMigConfigIsAReportedConflict) {
  add_nodes(2);
  start_berth();
  apply({});
  wait_ready();
  const std::string ours = kube().get({"nodes", "n1"}).label(kMigConfig);

  // Until mig-manager has started, only the label differs. berth restores it three times at most:
  // the user insists.
  wait_for("n1 to be given up as Contested", 60, [&]() -> std::string {
    if (!cordoned("n1") && kube().get({"nodes", "n1"}).label(kMigConfig) == ours)
      kube().set_label({"nodes", "n1"}, kMigConfig, "all-disabled");
    return reason("n1") == "Contested" ? "" : "it says \"" + detail("n1") + "\"";
  });
  const std::size_t before = writes().size();
  wait_condition("Stalled", "True");
  EXPECT_THAT(detail("n1"), HasSubstr("nvidia.com/mig.config=all-disabled"));
  EXPECT_THAT(detail("n1"), HasSubstr(ours));
  EXPECT_EQ(layout().condition("Ready"), "False");
  EXPECT_FALSE(cordoned("n1"));

  kube().set_label({"nodes", "n1"}, kMigConfig, ours);
  wait_ready();
  const auto all = writes();
  for (std::size_t i = before; i < all.size(); ++i)
    EXPECT_NE(all[i].resource, "nodes") << all[i].describe();
}

TEST_F(People, AForeignNameForTheSameIsLeftAlone) {
  kube().apply(
      "apiVersion: v1\nkind: ConfigMap\n"
      "metadata: {name: default-mig-parted-config, namespace: gpu-operator}\n"
      "data:\n  config.yaml: |\n    version: v1\n    mig-configs:\n      mine:\n"
      "      - devices: [0, 1]\n        mig-enabled: true\n"
      "        mig-devices: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}\n"
      "      - devices: [2, 3]\n        mig-enabled: true\n        mig-devices: {1g.10gb: 7}\n");
  add_nodes(2);
  kube().set_label({"nodes", "n2"}, kMigConfig, "mine");  // known to mig-manager, and not berth's
  start_berth();
  apply({.node_selector = "{matchLabels: {kubernetes.io/hostname: n1}}"});
  wait_ready();
  kube().set_label({"nodes", "n1"}, kMigConfig, "mine");
  std::this_thread::sleep_for(std::chrono::seconds(5));  // mig-manager and berth react
  wait_ready();
  EXPECT_EQ(kube().get({"nodes", "n1"}).label(kMigConfig), "mine");
  EXPECT_FALSE(cordoned("n1"));
  EXPECT_FALSE(touched("n2"));
  kube().remove({"configmaps", "default-mig-parted-config", "gpu-operator"});
}

TEST_F(People, AForeignMigConfigWhileTheAgentWorksIsNotFoughtOver) {
  nodes_ = cluster().add_gpu_nodes(2, {.annotations = {{"test.berth.dev/fault", "slow:1500"}}});
  cluster().wait_agents_running();
  start_berth();
  apply({});
  wait_phase("n1", "Applying");
  const std::string ours = kube().get({"nodes", "n1"}).label(kMigConfig);
  kube().set_label({"nodes", "n1"}, kMigConfig, "all-disabled");
  wait_phase("n1", "Failed");
  wait_condition("Stalled", "True");
  EXPECT_THAT(detail("n1"), HasSubstr("all-disabled"));
  EXPECT_TRUE(cordoned("n1"));
  EXPECT_FALSE(touched("n2"));  // the layout allows one failed node

  kube().set_label({"nodes", "n1"}, kMigConfig, ours);
  wait_ready();
  EXPECT_FALSE(cordoned("n1"));
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
}

}  // namespace
}  // namespace berth::test
