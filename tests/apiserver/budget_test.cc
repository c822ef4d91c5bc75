// SPDX-License-Identifier: Apache-2.0
// PodDisruptionBudgets: berth checks them before it claims a node, obeys them during a drain, and
// names them in the layout's status.
#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Budget : public RolloutTest {
 protected:
  void SetUp() override {
    RolloutTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_nodes(1, {});
    cluster().wait_agents_running();
  }

  void add_workload(const std::string& name, int replicas) {
    cluster().add_deployment({.name = name, .replicas = replicas, .count = 1});
    cluster().wait_pods_running("team-a", name, replicas);
  }

  void wait_budget_computed(const std::string& name, int healthy) {
    wait_for("the budget " + name + " to be computed", 20, [&]() -> std::string {
      const Object now = kube().get({"poddisruptionbudgets", name, "team-a"});
      const bool fresh =
          now.number("/status/observedGeneration") == now.number("/metadata/generation");
      return fresh && now.number("/status/currentHealthy") == healthy ? ""
                                                                      : now.at("/status").dump();
    });
  }

  // Evictions sent, including refused ones, but without dry runs.
  int evictions_sent() {
    int sent = 0;
    for (const AuditEvent& event : events())
      if (event.by_berth() && event.subresource == "eviction" && !event.dry_run()) ++sent;
    return sent;
  }
};

TEST_F(Budget, ANodeWaitsUncordonedWithTheBudgetsNameUntilItIsRelaxed) {
  add_workload("serve", 1);
  cluster().add_budget("team-a", "keep-serving", "serve", "minAvailable: 1");
  wait_budget_computed("keep-serving", 1);
  start_berth();
  apply({});
  wait_reason("n1", "PodDisruptionBudget");
  EXPECT_THAT(detail("n1"), AllOf(HasSubstr("Waiting"), HasSubstr("keep-serving")));
  EXPECT_EQ(layout().number("/status/nodes/blocked"), 1);
  EXPECT_THAT(cordon_order(), IsEmpty());
  EXPECT_EQ(evictions_sent(), 0);

  cluster().add_budget("team-a", "keep-serving", "serve", "minAvailable: 0");
  wait_ready();
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
  EXPECT_FALSE(cordoned("n1"));
}

TEST_F(Budget, OneThatClosesInMidDrainPutsTheNodeBack) {
  // Either pod may leave, but not both: with the node cordoned, the successor of the first has no
  // free GPUs, and the budget closes.
  add_workload("serve", 2);
  cluster().add_budget("team-a", "keep-serving", "serve", "minAvailable: 1");
  wait_budget_computed("keep-serving", 2);
  Layout layout;
  layout.drain = {"timeout: 4s"};
  start_berth();
  apply(layout);
  wait_phase("n1", "Cordoned");
  wait_phase("n1", "Idle", 60);
  EXPECT_EQ(kube().get({"nodes", "n1"}).label("nvidia.com/mig.config"), "all-disabled");
  cluster().wait_pods_running("team-a", "serve", 2);
  for (const AuditEvent& event : writes()) EXPECT_NE(event.verb, "delete") << event.describe();

  // berth retries later, and the drain succeeds once the budget opens.
  cluster().add_budget("team-a", "keep-serving", "serve", "minAvailable: 0");
  wait_ready("inference-a100", 90);
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
  EXPECT_FALSE(cordoned("n1"));
}

TEST_F(Budget, TwoBudgetsOnOnePodAreToldApartAndNamed) {
  add_workload("serve", 1);
  cluster().add_budget("team-a", "first", "serve", "minAvailable: 0");
  cluster().add_budget("team-a", "second", "serve", "minAvailable: 0");
  wait_budget_computed("first", 1);
  wait_budget_computed("second", 1);
  start_berth();
  apply({});
  wait_reason("n1", "PodDisruptionBudget");
  EXPECT_THAT(detail("n1"), AllOf(HasSubstr("first"), HasSubstr("second")));
  EXPECT_THAT(cordon_order(), IsEmpty());
  EXPECT_EQ(evictions_sent(), 0);

  kube().remove({"poddisruptionbudgets", "second", "team-a"});
  wait_ready();
}

TEST_F(Budget, NoEvictionIsSpentOnANodeThatCannotBeEmptied) {
  add_workload("free", 1);
  add_workload("serve", 1);
  cluster().add_budget("team-a", "keep-serving", "serve", "maxUnavailable: 0");
  wait_budget_computed("keep-serving", 1);
  start_berth();
  apply({});
  wait_reason("n1", "PodDisruptionBudget");
  // berth repeats its dry runs and sends no eviction, not even for the pod that could leave.
  wait_for("a few more dry runs", 30, [&]() -> std::string {
    int asked = 0;
    for (const AuditEvent& event : events())
      if (event.by_berth() && event.subresource == "eviction" && event.dry_run()) ++asked;
    return asked >= 4 ? "" : std::to_string(asked);
  });
  EXPECT_EQ(evictions_sent(), 0);
  EXPECT_THAT(cordon_order(), IsEmpty());
  for (const char* app : {"free", "serve"}) cluster().wait_pods_running("team-a", app, 1);
}

}  // namespace
}  // namespace berth::test
