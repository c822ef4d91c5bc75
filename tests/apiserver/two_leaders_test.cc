// SPDX-License-Identifier: Apache-2.0
// A lease does not fence: a leader frozen in the middle of its cordon wakes when another one leads,
// and its request arrives late.
#include "tests/apiserver/rollout_fixture.h"
#include "tests/support/fault_proxy.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::IsEmpty;

class TwoLeaders : public RolloutTest {
 protected:
  std::string holder() {
    const auto leases = kube().list("leases", "berth-system");
    return leases.empty() ? "" : leases[0].text("/spec/holderIdentity");
  }
};

TEST_F(TwoLeaders, TheLateCordonOfAFrozenLeaderNeverExceedsTheBudget) {
  const auto nodes = cluster().add_gpu_nodes(3, {});
  cluster().wait_agents_running();
  apply({});

  FaultProxy proxy(plane());
  proxy.add({.id = "cordon",
             .method = "PATCH",
             .path = "^/api/v1/nodes/",
             .body = "unschedulable",
             .action = "hold",
             .times = 1});
  Berth frozen(plane(), {.name = "berth-frozen", .kubeconfig = proxy.kubeconfig()});
  wait_for("the first leader's cordon to be held", 30, [&]() -> std::string {
    return proxy.holding("cordon") == 1 ? "" : "it last said " + frozen.process().log_tail(3);
  });
  frozen.process().freeze();
  const std::string first = holder();

  start_berth();
  wait_for("the second to lead and to take a node", 60, [&]() -> std::string {
    if (holder() == first) return "the lease is still the first's";
    for (const std::string& node : nodes)
      if (cordoned(node)) return "";
    return "no node is out";
  });
  proxy.release("cordon");  // the late request arrives now
  frozen.process().thaw();  // and its sender learns that it does not lead

  EXPECT_NE(frozen.process().wait(seconds(20)).value_or(0), 0)
      << "a leader that lost its lease must exit";
  wait_ready("inference-a100", 90);
  for (const std::string& node : nodes) {
    EXPECT_EQ(cluster().gpu_allocatable(node), kMixedA100) << node;
    EXPECT_FALSE(cordoned(node)) << node;
  }
  wait_for("every slot to be free", 20, [&]() -> std::string {
    const Object slots = kube().get({"configmaps", "berth-node-slots", "berth-system"});
    return slots.strings("/data").empty() ? "" : slots.at("/data").dump();
  });
}

// The other order: the frozen leader's slot is taken, its cordon never was sent.
TEST_F(TwoLeaders, ASlotWithoutItsCordonIsSweptByTheSuccessor) {
  const auto nodes = cluster().add_gpu_nodes(2, {});
  cluster().wait_agents_running();
  apply({});
  FaultProxy proxy(plane());
  proxy.add({.id = "cordon",
             .method = "PATCH",
             .path = "^/api/v1/nodes/",
             .body = "unschedulable",
             .action = "lose",
             .times = 1});
  {
    Berth dying(plane(), {.name = "berth-dying", .kubeconfig = proxy.kubeconfig()});
    wait_for("the cordon to be held", 30, [&]() -> std::string {
      return proxy.holding("cordon") == 1 ? "" : "it last said " + dying.process().log_tail(3);
    });
    dying.process().kill_now();
  }
  proxy.release("cordon");
  EXPECT_FALSE(
      kube().get({"configmaps", "berth-node-slots", "berth-system"}).strings("/data").empty());

  start_berth();
  wait_ready("inference-a100", 90);
  wait_for("every slot to be free", 20, [&]() -> std::string {
    return kube().get({"configmaps", "berth-node-slots", "berth-system"}).strings("/data").empty()
               ? ""
               : "one is taken";
  });
}

}  // namespace
}  // namespace berth::test
