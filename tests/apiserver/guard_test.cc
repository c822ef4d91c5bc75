// SPDX-License-Identifier: Apache-2.0
// The capacity guard: guarded capacity stays, and the refusal says which resource, how much, for
// which workload, and what would unblock it.
#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Guard : public RolloutTest {
 protected:
  void add_nodes(int count) {
    nodes_ = cluster().add_gpu_nodes(count, {});
    cluster().wait_agents_running();
  }
  Layout on(const std::string& node) {
    Layout layout;
    layout.node_selector = "{matchLabels: {kubernetes.io/hostname: " + node + "}}";
    return layout;
  }

  std::vector<std::string> nodes_;
};

TEST_F(Guard, MinAvailableHoldsUntilRoomAppears) {
  add_nodes(2);
  Layout layout = on("n1");
  layout.guard = {"minAvailable: {nvidia.com/gpu: 5}"};
  invariants_.min_available = {{"nvidia.com/gpu", 5}};
  start_berth();
  apply(layout);
  wait_reason("n1", "CapacityGuard");
  EXPECT_THAT(detail("n1"), AllOf(HasSubstr("nvidia.com/gpu"), HasSubstr("4"), HasSubstr("5")));
  EXPECT_EQ(RolloutTest::layout().number("/status/nodes/blocked"), 1);
  EXPECT_THAT(cordon_order(), IsEmpty());

  cluster().add_gpu_node({.name = "n3"});
  wait_ready("inference-a100", 60);
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
}

TEST_F(Guard, TheLastProviderOfABoundPodsResourceIsKept) {
  add_nodes(2);
  cluster().add_deployment(
      {.name = "serve", .count = 1, .node_selector = {{"kubernetes.io/hostname", "n1"}}});
  cluster().wait_pods_running("team-a", "serve", 1);
  kube().cordon("n2");  // an unavailable node offers nothing
  Layout layout = on("n1");
  layout.guard = {};
  start_berth();
  apply(layout);
  wait_reason("n1", "LastProvider");
  EXPECT_THAT(detail("n1"), AllOf(HasSubstr("nvidia.com/gpu"), HasSubstr("serve")));
  EXPECT_FALSE(cordoned("n1"));

  kube().cordon("n2", false);
  wait_ready("inference-a100", 60);
}

TEST_F(Guard, ATenantsPendingPodBlocksNothing) {
  add_nodes(1);
  // More than any node has: it waits forever, and needs a resource that only this node still
  // offers.
  cluster().add_deployment({.name = "greedy", .count = 64});
  wait_for("the pod to be found unschedulable", 30, [&]() -> std::string {
    const auto pods = cluster().pods_of("team-a", "greedy");
    return !pods.empty() && pods[0].condition("PodScheduled") == "False" ? "" : "not yet";
  });
  Layout layout;
  layout.guard = {};
  start_berth();
  apply(layout);
  wait_ready("inference-a100", 60);
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
}

}  // namespace
}  // namespace berth::test
