// SPDX-License-Identifier: Apache-2.0
// Which changes make "health" due: everything that it judges nodes by, and its validation Jobs.
#include "controller/health/health_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

GPUClusterPolicy policy() {
  GPUClusterPolicy policy;
  policy.meta.name = limits::kPolicyName;
  policy.spec.pools.emplace_back().name = "dev";
  return policy;
}

struct HealthKeysTest : ::testing::Test {
  HealthKeysTest() { cluster.upsert(policy(), Time()); }
  template <class T>
  std::vector<std::string> changed(const std::optional<T>& old, const std::optional<T>& now) {
    return health_keys_for(cluster, settings, old ? &*old : nullptr, now ? &*now : nullptr);
  }
  ClusterState cluster;
  Settings settings;
};

TEST_F(HealthKeysTest, AProofMovesItAndNoOtherJobDoes) {
  using Jobs = std::optional<Job>;
  Job proof;
  proof.meta.namespace_ = settings.berth_namespace;
  proof.meta.name = "berth-proof-x";
  proof.meta.labels.set(names::kProofLabel, "true");
  Job elsewhere = proof, other = proof;
  elsewhere.meta.namespace_ = "team-a";
  other.meta.labels = {};
  EXPECT_THAT(changed(Jobs(proof), Jobs(proof)), ElementsAre("health"));
  EXPECT_THAT(changed(Jobs(proof), Jobs()), ElementsAre("health"));
  for (const Job& job : {elsewhere, other}) EXPECT_THAT(changed(Jobs(), Jobs(job)), IsEmpty());
}

TEST_F(HealthKeysTest, ANodeMovesItByWhatItIsJudgedBy) {
  using Nodes = std::optional<Node>;
  const Node old = node("n1").a100_80(4);
  Node larger = old, told = old;
  told.gpu_conditions.set("GPUMissing", "");
  larger.capacity.set("nvidia.com/gpu", Quantity::whole(8));
  EXPECT_THAT(changed(Nodes(), Nodes(old)), ElementsAre("health"));
  for (const Node& other :
       {Node(node("n1").a100_80(4).cordoned()), Node(node("n1").a100_80(4).not_ready()),
        Node(node("n1").a100_80(4).allocatable("nvidia.com/gpu", 3)), larger, told,
        Node(node("n1").a100_80(4).label("tier", "lab")), Node(node("n1").a100_80(4).uid("u2")),
        Node(node("n1").a100_80(4).taint("a", "NoSchedule")),
        Node(node("n1").a100_80(4).annotation("a", "b")), Node(node("n1"))})
    EXPECT_THAT(changed(Nodes(old), Nodes(other)), ElementsAre("health"));
  EXPECT_THAT(changed(Nodes(old), Nodes(old)), IsEmpty());
  EXPECT_THAT(changed(Nodes(old), Nodes()), IsEmpty());
  EXPECT_THAT(changed(Nodes(node("plain")), Nodes(node("plain").label("a", "b"))), IsEmpty());
}

TEST_F(HealthKeysTest, WithoutAPolicyOnlyNodesMoveItThatMayHaveBerthsCordon) {
  using Nodes = std::optional<Node>;
  cluster.erase<GPUClusterPolicy>("", limits::kPolicyName);
  EXPECT_THAT(changed(Nodes(), Nodes(node("n1").a100_80(4))), IsEmpty());
  EXPECT_THAT(
      changed(Nodes(), Nodes(node("n1").a100_80(4).annotation(names::kHealthAnnotation, "{}"))),
      ElementsAre("health"));
}

}  // namespace
}  // namespace berth::test
