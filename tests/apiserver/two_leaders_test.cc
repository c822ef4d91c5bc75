// SPDX-License-Identifier: Apache-2.0
// A lease does not stop an old leader: a leader that froze during its cordon wakes when another one
// leads, and its request arrives late.
#include <memory>

#include "tests/apiserver/rollout_fixture.h"
#include "tests/support/fault_proxy.h"

namespace berth::test {
namespace {

using std::chrono::seconds;

// The layout waits for its nodes, and the first leader uses a proxy that holds its first cordon.
// Each case decides what happens to that leader, and then starts a second one.
class TwoLeaders : public RolloutTest {
 protected:
  void prepare(int count) {
    nodes_ = cluster().add_gpu_nodes(count, {});
    cluster().wait_agents_running();
    apply({});
  }

  // `action`: "hold" forwards the cordon when it is released, "lose" never does.
  std::unique_ptr<Berth> start_and_stop_its_cordon(FaultProxy& proxy, const std::string& action) {
    proxy.add({.id = "cordon",
               .method = "PATCH",
               .path = "^/api/v1/nodes/",
               .body = "unschedulable",
               .action = action,
               .times = 1});
    auto first = std::make_unique<Berth>(
        plane(), Berth::Options{.name = "berth-first", .kubeconfig = proxy.kubeconfig()});
    wait_for("the first leader's cordon to be held", 30, [&]() -> std::string {
      return proxy.holding("cordon") == 1 ? "" : "it last said " + first->process().log_tail(3);
    });
    return first;
  }

  Object slots() { return kube().get({"configmaps", "berth-node-slots", "berth-system"}); }

  void wait_slots_free() {
    wait_for("every slot to be free", 20, [&]() -> std::string {
      const Object map = slots();
      return map.strings("/data").empty() ? "" : map.at("/data").dump();
    });
  }

  std::string holder() {
    const auto leases = kube().list("leases", "berth-system");
    return leases.empty() ? "" : leases[0].text("/spec/holderIdentity");
  }

  std::vector<std::string> nodes_;
};

TEST_F(TwoLeaders, TheLateCordonOfAFrozenLeaderNeverExceedsTheBudget) {
  prepare(3);
  FaultProxy proxy(plane());
  const auto frozen = start_and_stop_its_cordon(proxy, "hold");
  frozen->process().freeze();
  const std::string first = holder();

  start_berth();
  wait_for("the second to lead and to take a node", 60, [&]() -> std::string {
    if (holder() == first) return "the lease is still the first's";
    for (const std::string& node : nodes_)
      if (cordoned(node)) return "";
    return "no node is out";
  });
  proxy.release("cordon");   // the late request arrives now
  frozen->process().thaw();  // and its sender learns that it does not lead

  EXPECT_NE(frozen->process().wait(seconds(120)).value_or(0), 0)
      << "a leader that lost its lease must exit";
  wait_ready("inference-a100", 90);
  for (const std::string& node : nodes_) {
    EXPECT_EQ(cluster().gpu_allocatable(node), kMixedA100) << node;
    EXPECT_FALSE(cordoned(node)) << node;
  }
  wait_slots_free();
}

// The other order: the first leader has taken its slot, and dies before its cordon is sent.
TEST_F(TwoLeaders, ASlotWithoutItsCordonIsSweptByTheSuccessor) {
  prepare(2);
  FaultProxy proxy(plane());
  start_and_stop_its_cordon(proxy, "lose")->process().kill_now();
  proxy.release("cordon");
  EXPECT_FALSE(slots().strings("/data").empty());

  start_berth();
  wait_ready("inference-a100", 90);
  wait_slots_free();
}

}  // namespace
}  // namespace berth::test
