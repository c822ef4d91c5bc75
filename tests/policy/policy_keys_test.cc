// SPDX-License-Identifier: Apache-2.0
// Which keys of the policy a change makes due: all that it can affect, and no others.
#include "controller/policy/policy_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/mig/planned_cluster.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kOnePool[] = "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}}]";

struct PolicyKeysTest : ::testing::Test {
  PolicyKeysTest() { world.add(policy(kOnePool)).add_nodes(2).add(node("plain")); }
  template <class T>
  std::vector<std::string> changed(const std::optional<T>& old, const std::optional<T>& now) {
    return policy_keys_for(world.cluster, world.settings, old ? &*old : nullptr,
                           now ? &*now : nullptr);
  }
  PlannedCluster world;
};

TEST_F(PolicyKeysTest, AnEditOfThePolicyMovesEveryNodeItsStatusNone) {
  using Policy = std::optional<GPUClusterPolicy>;
  const GPUClusterPolicy old = policy(kOnePool);
  GPUClusterPolicy told = old, edited = old, marked = old;
  told.status.observed_generation = 1;
  edited.spec.pools.clear();
  marked.meta.deletion_timestamp = world.now;
  EXPECT_THAT(changed(Policy(old), Policy(told)), ElementsAre("policy"));
  for (const GPUClusterPolicy& other : {edited, marked})
    EXPECT_THAT(changed(Policy(old), Policy(other)), ElementsAre("policy", "pool/n1", "pool/n2"));
  EXPECT_THAT(changed(Policy(), Policy(old)), ElementsAre("policy", "pool/n1", "pool/n2"));
}

TEST_F(PolicyKeysTest, ANodeMovesItsOwnKeyWhereItsPoolCouldChange) {
  using Nodes = std::optional<Node>;
  const Node old = node("n1").a100_80(4);
  EXPECT_THAT(changed(Nodes(), Nodes(old)), ElementsAre("policy", "pool/n1"));
  EXPECT_THAT(changed(Nodes(old), Nodes()), ElementsAre("policy"));
  EXPECT_THAT(changed(Nodes(old), Nodes(old)), ElementsAre("policy"));
  for (const Node& other :
       {Node(node("n1").a100_80(4).label("tier", "lab")), Node(node("n1").a100_80(4).uid("u2")),
        Node(node("n1").a100_80(4).taint("a", "NoSchedule")),
        Node(node("n1").a100_80(4).annotation("a", "b"))})
    EXPECT_THAT(changed(Nodes(old), Nodes(other)), ElementsAre("policy", "pool/n1"));
  for (const Node& other : {Node(node("n1").a100_80(4).cordoned()),
                            Node(node("n1").a100_80(4).allocatable("nvidia.com/gpu", 3))})
    EXPECT_THAT(changed(Nodes(old), Nodes(other)), ElementsAre("policy"))
        << "pools ask none of that";
  EXPECT_THAT(changed(Nodes(old), Nodes(node("n1"))), ElementsAre("policy", "pool/n1"))
      << "its GPUs are gone, and the pool may have left something";
  const Node fresh = node("n1").label("tier", "mig").allocatable("nvidia.com/gpu", 0);
  EXPECT_THAT(changed(Nodes(fresh),
                      Nodes(node("n1").label("tier", "mig").allocatable("nvidia.com/gpu", 8))),
              ElementsAre("policy", "pool/n1"))
      << "a new node's GPUs have come, before discovery has seen them";
  EXPECT_THAT(changed(Nodes(node("plain")), Nodes(node("plain").label("a", "b"))), IsEmpty());
}

TEST_F(PolicyKeysTest, AGpuPodMovesThePolicyWhenItIsBoundEndsOrGoes) {
  using Pods = std::optional<Pod>;
  const Pod waits = pod("p").gpu(1), bound = pod("p").gpu(1).on("n1");
  Pod done = bound, again = bound;
  done.phase = PodPhase::kSucceeded;
  again.meta.uid = "another";
  EXPECT_THAT(changed(Pods(), Pods(waits)), IsEmpty());
  EXPECT_THAT(changed(Pods(waits), Pods(bound)), ElementsAre("policy"));
  EXPECT_THAT(changed(Pods(bound), Pods(bound)), IsEmpty());
  EXPECT_THAT(changed(Pods(bound), Pods(done)), ElementsAre("policy"));
  EXPECT_THAT(changed(Pods(bound), Pods(again)), ElementsAre("policy"));
  EXPECT_THAT(changed(Pods(bound), Pods()), ElementsAre("policy"));
  EXPECT_THAT(changed(Pods(), Pods(pod("web").on("n1"))), IsEmpty()) << "no GPU";
}

TEST_F(PolicyKeysTest, OfConfigMapsOnlyTheDevicePluginsFileMovesIt) {
  using Maps = std::optional<ConfigMap>;
  const auto map = [](const char* namespace_, const char* name) {
    ConfigMap made;
    made.meta.namespace_ = namespace_;
    made.meta.name = name;
    return made;
  };
  EXPECT_THAT(changed(Maps(), Maps(map("gpu-operator", "berth-device-plugin-config"))),
              ElementsAre("policy"));
  EXPECT_THAT(changed(Maps(map("gpu-operator", "berth-device-plugin-config")), Maps()),
              ElementsAre("policy"));
  EXPECT_THAT(changed(Maps(), Maps(map("team", "berth-device-plugin-config"))), IsEmpty());
  EXPECT_THAT(changed(Maps(), Maps(map("gpu-operator", "other"))), IsEmpty());
}

TEST_F(PolicyKeysTest, ADaemonSetMovesItByTheFileThatItMounts) {
  using Sets = std::optional<DaemonSet>;
  DaemonSet plugin, other;
  other.config_map_volumes = {Text("berth-device-plugin-config")};
  EXPECT_THAT(changed(Sets(plugin), Sets(plugin)), IsEmpty());
  EXPECT_THAT(changed(Sets(plugin), Sets(other)), ElementsAre("policy"));
  EXPECT_THAT(changed(Sets(), Sets(plugin)), ElementsAre("policy"));
  EXPECT_THAT(changed(Sets(plugin), Sets()), ElementsAre("policy"));
}

TEST_F(PolicyKeysTest, NvidiasPolicyMovesEveryNodeAPriorityClassThePolicy) {
  EXPECT_THAT(changed(std::optional<ClusterPolicy>(), std::optional<ClusterPolicy>(std::in_place)),
              ElementsAre("policy", "pool/n1", "pool/n2"));
  EXPECT_THAT(changed(std::optional<PriorityClass>(), std::optional<PriorityClass>(std::in_place)),
              ElementsAre("policy"));
}

TEST_F(PolicyKeysTest, WithoutAPolicyOnlyNodesThatPoolsMayHaveLeftSomethingOnMove) {
  world.cluster.erase<GPUClusterPolicy>("", "cluster");
  EXPECT_THAT(changed(std::optional<Pod>(), std::optional<Pod>(pod("p").gpu(1).on("n1"))),
              IsEmpty());
  EXPECT_THAT(changed(std::optional<DaemonSet>(), std::optional<DaemonSet>(std::in_place)),
              IsEmpty());
  EXPECT_THAT(changed(std::optional<ClusterPolicy>(), std::optional<ClusterPolicy>(std::in_place)),
              IsEmpty());
  EXPECT_THAT(changed(std::optional<PriorityClass>(), std::optional<PriorityClass>(std::in_place)),
              IsEmpty());
  EXPECT_THAT(changed(std::optional<Node>(node("n1").a100_80(4)), std::optional<Node>()),
              IsEmpty());
  EXPECT_THAT(changed(std::optional<Node>(), std::optional<Node>(node("plain"))), IsEmpty());
  for (const Node& left :
       {Node(node("n1").annotation(names::kPoolKeysAnnotation, "{}")),
        Node(node("n1").label(names::kPoolLabel, "dev")), Node(node("n1").a100_80(4))})
    EXPECT_THAT(changed(std::optional<Node>(), std::optional<Node>(left)),
                ElementsAre("policy", "pool/n1"));
}

}  // namespace
}  // namespace berth::test
