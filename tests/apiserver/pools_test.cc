// SPDX-License-Identifier: Apache-2.0
// GPUClusterPolicy on the real API server: what pools set on nodes and remove, edits by users, the
// device plugin's file, PriorityClasses, and blackouts during a rollout.
#include <fmt/format.h>

#include <atomic>
#include <map>

#include "tests/apiserver/rollout_fixture.h"
#include "tests/support/watch_feed.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kTier[] = "node.example.com/tier";
constexpr char kPool[] = "gpu.berth.dev/pool";
constexpr char kClass[] = "gpu.example.com/class";
constexpr char kPluginConfig[] = "nvidia.com/device-plugin.config";
constexpr char kPluginFile[] = "berth-device-plugin-config";

// Pool "training" of nodes with tier=training: a label and a taint.
constexpr char kTraining[] =
    "  pools:\n"
    "  - name: training\n"
    "    nodeSelector: {matchLabels: {node.example.com/tier: training}}\n"
    "    labels: {gpu.example.com/class: gold}\n"
    "    taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]\n";

class Pools : public RolloutTest {
 protected:
  void SetUp() override {
    invariants_.pool_labels = {kPool, kClass, kPluginConfig};
    RolloutTest::SetUp();
  }
  void apply_policy(const std::string& spec) {
    kube().apply(
        "apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUClusterPolicy\nmetadata: {name: cluster}\n"
        "spec:\n" +
        spec);
  }
  Object policy() { return kube().get({"gpuclusterpolicies", "cluster"}); }
  Object node(const std::string& name) { return kube().get({"nodes", name}); }
  // "key=value:Effect", in the node's order.
  std::vector<std::string> taints(const std::string& name) {
    std::vector<std::string> told;
    for (const Object& taint : node(name).items("/spec/taints"))
      told.push_back(
          fmt::format("{}={}:{}", taint.text("/key"), taint.text("/value"), taint.text("/effect")));
    return told;
  }
  // The labels and taints that a user or a pool may have set: NVIDIA's components write their own
  // labels meanwhile.
  std::string face(const std::string& name) {
    const Object now = node(name);
    std::string told = now.at("/spec/taints").dump();
    for (const auto& [key, value] : now.strings("/metadata/labels"))
      if (key.rfind("nvidia.com/", 0) != 0 || key == kPluginConfig)
        told += "\n" + key + "=" + value;
    return told;
  }
  void wait_ready_policy(int seconds = 30) {
    wait_for("the policy to be Ready", seconds, [&]() -> std::string {
      const Object now = policy();
      return now.condition("Ready") == "True" &&
                     now.number("/status/observedGeneration") == now.number("/metadata/generation")
                 ? ""
                 : now.at("/status").dump();
    });
  }
  void wait_label(const std::string& name, const std::string& key, const std::string& value) {
    wait_for(name + " to carry " + key + "=" + value, 30, [&]() -> std::string {
      const std::string now = node(name).label(key);
      return now == value ? "" : "it is \"" + now + "\"";
    });
  }
  // With everything that it has set on nodes.
  void take_policy_back() {
    kube().patch({"gpuclusterpolicies", "cluster"}, PatchType::kMerge,
                 R"({"spec": {"deletionPolicy": "Remove"}})");
    kube().remove({"gpuclusterpolicies", "cluster"});
    wait_no_policy();
  }
  void wait_no_policy() {
    wait_for("the policy to be gone", 30, [&]() -> std::string {
      const auto found = kube().find({"gpuclusterpolicies", "cluster"});
      return found ? found->at("/status").dump() : "";
    });
  }
};

TEST_F(Pools, PutLabelsAndTaintsOnTheirNodesAndTakeExactlyThoseBack) {
  cluster().add_gpu_nodes(3, {.labels = {{kTier, "training"}}});
  cluster().add_gpu_node({.name = "n9", .labels = {{kTier, "other"}, {kClass, "theirs"}}});
  cluster().wait_agents_running();
  kube().patch({"nodes", "n1"}, PatchType::kMerge,
               R"({"spec":{"taints":[{"key":"maker.example.com/new","effect":"NoSchedule"}]}})");
  kube().set_label({"nodes", "n2"}, kClass, "gold");  // the same value, from a user
  std::vector<std::string> before;
  for (const char* name : {"n1", "n2", "n3", "n9"}) before.push_back(face(name));
  start_berth();

  apply_policy(std::string(kTraining) + "  priorityClasses: [{name: training-batch, value: 7}]\n");
  wait_ready_policy();
  for (const char* name : {"n1", "n2", "n3"}) {
    EXPECT_EQ(node(name).label(kPool), "training") << name;
    EXPECT_EQ(node(name).label(kClass), "gold") << name;
  }
  EXPECT_THAT(taints("n1"), ElementsAre("maker.example.com/new=:NoSchedule",
                                        "nvidia.com/gpu=present:NoSchedule"));
  EXPECT_THAT(taints("n3"), ElementsAre("nvidia.com/gpu=present:NoSchedule"));
  EXPECT_EQ(face("n9"), before[3]);
  EXPECT_EQ(policy().text("/status/totals/nodes"), "3");
  EXPECT_EQ(policy().text("/status/totals/gpus"), "12");
  const Object made = kube().get({"priorityclasses", "training-batch"});
  EXPECT_EQ(made.number("/value"), 7);
  EXPECT_EQ(made.text("/preemptionPolicy"), "Never");

  // Another value: berth re-creates the class.
  apply_policy(std::string(kTraining) + "  priorityClasses: [{name: training-batch, value: 8}]\n");
  wait_ready_policy();
  EXPECT_EQ(kube().get({"priorityclasses", "training-batch"}).number("/value"), 8);

  take_policy_back();
  EXPECT_EQ(face("n1"), before[0]);
  EXPECT_EQ(face("n2"), before[1]);
  EXPECT_EQ(face("n3"), before[2]);
  EXPECT_FALSE(kube().find({"priorityclasses", "training-batch"}).has_value());
}

// Nodes of Karpenter and the Cluster Autoscaler: labelled by the node group's template, minutes
// before GPU feature discovery sees them.
TEST_F(Pools, TheLabelAndTaintOfATemplateStayOnTheNodesThatComeWithThem) {
  cluster().add_gpu_nodes(1, {.labels = {{kTier, "training"}}});
  cluster().wait_agents_running();
  start_berth();
  apply_policy(kTraining);
  wait_ready_policy();
  const std::map<std::string, std::string> undiscovered = {
      {"nvidia.com/gpu.present", ""}, {"nvidia.com/gpu.product", ""}, {"nvidia.com/gpu.count", ""}};
  const auto add = [&](const char* name, const char* tier) {
    GpuNode made{.name = name, .labels = {{kTier, tier}, {kPool, "training"}}};
    made.labels.insert(undiscovered.begin(), undiscovered.end());
    cluster().add_gpu_node(made);
  };
  add("g1", "training");
  add("g2", "other");
  wait_label("g1", kClass, "gold");  // it belongs to the pool at once
  wait_for("the policy to count the node and name the other", 30, [&]() -> std::string {
    const std::string said = policy().condition("Ready", "message");
    return policy().text("/status/totals/nodes") == "2" &&
                   said.find("g2 (gpu.berth.dev/pool=training)") != std::string::npos
               ? ""
               : policy().at("/status").dump();
  });
  EXPECT_EQ(policy().text("/status/totals/gpus"), "8");
  take_policy_back();
  EXPECT_EQ(node("n1").label(kPool), "");
  for (const char* name : {"g1", "g2"}) EXPECT_EQ(node(name).label(kPool), "training") << name;
  EXPECT_EQ(node("g1").label(kClass), "");
}

// Moves every node into the pool and out of it, each on its own: again as soon as berth has reacted
// to the last move.
class InAndOut {
 public:
  InAndOut(const Credentials& credentials, int rounds)
      : rounds_(rounds),
        hand_(credentials),
        feed_(credentials, "berth-test", "/api/v1/nodes",
              [this](const std::string&, const Object& node) { move(node); }) {}
  // Nodes that have finished all moves.
  int through() const { return through_; }

 private:
  void move(const Object& node) {
    int& made = made_[node.name()];
    const bool inside = made % 2 == 1;
    if (made > 2 * rounds_ || node.label(kPool) != (inside ? "training" : "")) return;
    if (++made > 2 * rounds_)
      ++through_;
    else
      hand_.set_label({"nodes", node.name()}, kTier, inside ? "none" : "training");
  }

  const int rounds_;
  std::map<std::string, int> made_;  // moves of each node
  std::atomic<int> through_ = 0;
  Kube hand_;
  WatchFeed feed_;  // calls on a thread of its own
};

TEST_F(Pools, ANodeThatEntersAndLeavesAThousandTimesKeepsNothing) {
  constexpr int kNodes = 10, kRounds = 100;
  const std::vector<std::string> names =
      cluster().add_gpu_nodes(kNodes, {.labels = {{kTier, "none"}}});
  cluster().wait_agents_running();
  for (const std::string& name : names)
    kube().patch({"nodes", name}, PatchType::kMerge,
                 R"({"metadata":{"labels":{"team":"a"}},"spec":{"taints":)"
                 R"([{"key":"maker.example.com/new","effect":"NoSchedule"}]}})");
  std::vector<std::string> before;
  for (const std::string& name : names) before.push_back(face(name));
  start_berth({"--kube-api-qps=-1"});
  apply_policy(kTraining);
  InAndOut moves(kube().credentials(), kRounds);
  wait_for("all nodes to have come and gone", 500, [&]() -> std::string {
    return moves.through() == kNodes ? "" : fmt::format("{} of them have", moves.through());
  });
  for (int i = 0; i < kNodes; ++i) EXPECT_EQ(face(names[i]), before[i]) << names[i];
}

TEST_F(Pools, ADeletedPolicyLeavesItsNodesAndItsReturnWritesNone) {
  cluster().add_gpu_nodes(2, {.labels = {{kTier, "training"}}});
  cluster().wait_agents_running();
  start_berth();
  apply_policy(kTraining);
  wait_ready_policy();
  const std::string face_of_one = face("n1");
  kube().remove({"gpuclusterpolicies", "cluster"});
  wait_no_policy();
  EXPECT_EQ(face("n1"), face_of_one);
  apply_policy(kTraining);
  wait_ready_policy();
  EXPECT_EQ(face("n1"), face_of_one);
  take_policy_back();
  EXPECT_EQ(node("n1").label(kPool), "");
  EXPECT_THAT(taints("n1"), ::testing::IsEmpty());
}

TEST_F(Pools, AHandEditIsPutBackThreeTimesAndThenTold) {
  cluster().add_gpu_nodes(1, {.labels = {{kTier, "training"}}});
  cluster().wait_agents_running();
  start_berth();
  apply_policy(kTraining);
  wait_ready_policy();
  for (int round = 1; round <= 3; ++round) {
    kube().set_label({"nodes", "n1"}, kClass, "silver");
    wait_label("n1", kClass, "gold");
  }
  kube().set_label({"nodes", "n1"}, kClass, "silver");
  wait_for("the fight to be told", 30, [&]() -> std::string {
    return policy().condition("Stalled", "reason") == "KeysContested"
               ? ""
               : policy().at("/status").dump();
  });
  EXPECT_EQ(node("n1").label(kClass), "silver");
  EXPECT_THAT(policy().condition("Stalled", "message"),
              HasSubstr("n1: label gpu.example.com/class"));
  // An edit of the pool is a new request.
  std::string edited = kTraining;
  edited.replace(edited.find("gold"), 4, "platinum");
  apply_policy(edited);
  wait_label("n1", kClass, "platinum");
}

TEST_F(Pools, ThePluginsFileComesFirstAndTheLabelLater) {
  cluster().add_gpu_nodes(2, {.labels = {{kTier, "dev"}}});
  cluster().wait_agents_running();
  start_berth({"--agent-configmap-delay=3s"});
  const std::string sliced =
      "  pools:\n  - name: dev\n    nodeSelector: {matchLabels: {node.example.com/tier: dev}}\n"
      "    sharing: {strategy: TimeSlicing, replicas: 4}\n";
  apply_policy(sliced);
  wait_for("the file to hold the pool's key", 20, [&]() -> std::string {
    const auto file = kube().find({"configmaps", kPluginFile, "gpu-operator"});
    return file && file->strings("/data").size() == 2 ? "" : "not yet";
  });
  EXPECT_EQ(node("n1").label(kPluginConfig), "");
  const auto data = kube().get({"configmaps", kPluginFile, "gpu-operator"}).strings("/data");
  const std::string key = std::next(data.begin())->first;
  EXPECT_THAT(key, ::testing::StartsWith("dev-"));
  wait_label("n1", kPluginConfig, key);
  wait_label("n2", kPluginConfig, key);

  take_policy_back();
  EXPECT_EQ(node("n1").label(kPluginConfig), "");
  EXPECT_THAT(kube().get({"configmaps", kPluginFile, "gpu-operator"}).strings("/data"),
              ElementsAre(::testing::Pair("default", "version: v1\n")));
}

TEST_F(Pools, ABlackoutStopsARolloutAfterTheNodeInHand) {
  cluster().add_gpu_nodes(2, {.labels = {{kTier, "training"}}});
  cluster().wait_agents_running();
  cluster().add_deployment({.name = "slow",
                            .node_selector = {{"kubernetes.io/hostname", "n1"}},
                            .annotations = {{"test.berth.dev/linger", "true"}}});
  cluster().wait_pods_running("team-a", "slow", 1);
  start_berth();
  apply({.rollout = {"maxUnavailable: 1", "order: Name"}});
  wait_reason("n1", "PodsLeaving");
  // From the first minute of each day to the last: closed now, permanently.
  apply_policy("  disruption: {blackouts: [{schedule: \"* * * * *\", duration: 2m}]}\n");
  wait_for("the blackout to be told", 20, [&]() -> std::string {
    return policy().text("/status/disruption/open") == "false" ? "" : policy().at("/status").dump();
  });
  cluster().remove_deployment("team-a", "slow");
  wait_phase("n1", "Idle", 60);
  wait_reason("n2", "DisruptionWindow", 60);
  EXPECT_THAT(cordon_order(), ElementsAre("n1"));
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);

  apply_policy("  disruption: {windows: [{schedule: \"* * * * *\", duration: 2m}]}\n");
  wait_ready();
  EXPECT_THAT(cordon_order(), ElementsAre("n1", "n2"));
}

}  // namespace
}  // namespace berth::test
