// SPDX-License-Identifier: Apache-2.0
// Whose cordon it is stays known: after a user removes or overwrites the record, after a failed
// layout is deleted, and for a node that comes with another node's annotations.
#include <chrono>
#include <thread>

#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRecord[] = "gpu.berth.dev/mig-rollout";

class Memory : public RolloutTest {
 protected:
  // A Deployment's pod on the node that stays Terminating after its eviction.
  void hold_drain_of(const std::string& node) {
    cluster().add_deployment({.name = "slow-" + node,
                              .node_selector = {{"kubernetes.io/hostname", node}},
                              .annotations = {{"test.berth.dev/linger", "true"}}});
    cluster().wait_pods_running("team-a", "slow-" + node, 1);
  }
  void let_go(const std::string& node) { cluster().remove_deployment("team-a", "slow-" + node); }
  void wait_event(const std::string& node, const std::string& reason) {
    wait_for(node + " to have the event " + reason, 30, [&]() -> std::string {
      for (const Object& event : kube().list("events", "default"))
        if (event.text("/involvedObject/name") == node && event.text("/reason") == reason)
          return "";
      return "it has none";
    });
  }
  void wait_in_service(const std::string& node) {
    wait_for(node + " to be in service", 60, [&]() -> std::string {
      return cordoned(node) ? "it is cordoned; " + detail(node) : "";
    });
  }
  void wait_no_slot() {
    wait_for("every slot to be free", 30, [&]() -> std::string {
      const auto slots =
          kube().get({"configmaps", "berth-node-slots", "berth-system"}).strings("/data");
      return slots.empty() ? "" : slots.begin()->first;
    });
  }
  int writes_of_node(const std::string& node) {
    int count = 0;
    for (const AuditEvent& event : writes())
      count += event.resource == "nodes" && event.name == node && event.ok();
    return count;
  }
};

TEST_F(Memory, ARecordThatIsRemovedOrOverwrittenIsWrittenAnewAndTheNodeReturns) {
  cluster().add_gpu_nodes(2, {});
  cluster().wait_agents_running();
  for (const char* node : {"n1", "n2"}) hold_drain_of(node);
  start_berth();
  invariants_.max_unavailable = 2;
  apply({.rollout = {"maxUnavailable: 2", "initialBatch: 0"}});
  for (const char* node : {"n1", "n2"}) wait_reason(node, "PodsLeaving");
  kube().set_annotation({"nodes", "n1"}, kRecord, "{" + std::string(60000, 'x'));
  kube().set_annotation({"nodes", "n2"}, kRecord, "");
  for (const char* node : {"n1", "n2"}) {
    wait_event(node, "RolloutForgotten");
    wait_phase(node, "Cordoned");
    EXPECT_TRUE(cordoned(node));
  }
  for (const char* node : {"n1", "n2"}) let_go(node);
  wait_ready();
  for (const char* node : {"n1", "n2"}) {
    EXPECT_FALSE(cordoned(node)) << node;
    EXPECT_EQ(cluster().gpu_allocatable(node), kMixedA100) << node;
  }
  wait_no_slot();
}

TEST_F(Memory, WhoTakesItAwayAgainAndAgainIsNotFoughtButTold) {
  cluster().add_gpu_nodes(1, {});
  cluster().wait_agents_running();
  hold_drain_of("n1");
  start_berth({"--retry-backoff=20s"});
  apply({});
  wait_reason("n1", "PodsLeaving");
  const int before = writes_of_node("n1");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end)
    if (!phase("n1").empty()) kube().set_annotation({"nodes", "n1"}, kRecord, "");
  EXPECT_LE(writes_of_node("n1") - before, 3);
  wait_condition("Stalled", "True");
  EXPECT_THAT(detail("n1"), HasSubstr("RolloutForgotten: annotation"));
  EXPECT_THAT(detail("n1"), Not(HasSubstr("not by berth")));
  let_go("n1");
  wait_ready("inference-a100", 120);
  EXPECT_FALSE(cordoned("n1"));
}

TEST_F(Memory, ANodeThatFailedReturnsWithTheNextLayoutsSuccess) {
  cluster().add_gpu_nodes(2, {});
  cluster().wait_agents_running();
  kube().set_annotation({"nodes", "n1"}, "test.berth.dev/fault", "fail");
  start_berth();
  apply({.rollout = {"order: Name", "progressDeadline: 5s"}});
  wait_phase("n1", "Failed", 90);
  kube().remove({"miglayouts", "inference-a100"});
  wait_for("the layout to be gone", 30, [&]() -> std::string {
    return kube().find({"miglayouts", "inference-a100"}) ? "it is there" : "";
  });
  EXPECT_TRUE(cordoned("n1"));
  kube().set_annotation({"nodes", "n1"}, "test.berth.dev/fault", "");
  apply({.name = "second", .devices = "  - profiles: {2g.20gb: 3}\n"});
  wait_ready("second", 120);
  for (const char* node : {"n1", "n2"}) EXPECT_FALSE(cordoned(node)) << node;
}

// Deleted, and re-created from the output of `kubectl get node n1 -o yaml`.
TEST_F(Memory, ANodeCreatedAgainFromItsOwnCopyReturnsAndTheRolloutEnds) {
  cluster().add_gpu_nodes(2, {});
  cluster().wait_agents_running();
  hold_drain_of("n1");
  start_berth();
  apply({.rollout = {"order: Name"}});
  wait_reason("n1", "PodsLeaving");
  invariants_.max_unavailable = 2;  // berth may claim n2 before n1 exists again
  const Object copy = kube().get({"nodes", "n1"});
  let_go("n1");
  cluster().remove_node("n1");
  cluster().add_gpu_node({.name = "n1",
                          .labels = copy.strings("/metadata/labels"),
                          .annotations = copy.strings("/metadata/annotations"),
                          .cordoned = true});
  wait_ready("inference-a100", 120);
  for (const char* node : {"n1", "n2"}) {
    EXPECT_FALSE(cordoned(node)) << node;
    EXPECT_EQ(cluster().gpu_allocatable(node), kMixedA100) << node;
  }
  wait_no_slot();
}

TEST_F(Memory, ANodeMadeFromAnotherOnesPictureIsANewNode) {
  cluster().add_gpu_nodes(1, {});
  cluster().wait_agents_running();
  hold_drain_of("n1");
  start_berth();
  apply({});
  wait_phase("n1", "Cordoned");
  cluster().add_gpu_node(
      {.name = "n2", .annotations = {{kRecord, kube().get({"nodes", "n1"}).annotation(kRecord)}}});
  cluster().wait_agents_running();
  wait_event("n2", "RolloutForgotten");
  EXPECT_EQ(phase("n2"), "");
  EXPECT_EQ(layout().number("/status/nodes/failed"), 0);
  let_go("n1");
  wait_ready("inference-a100", 120);
  EXPECT_EQ(cluster().gpu_allocatable("n2"), kMixedA100);
  for (const char* node : {"n1", "n2"}) wait_in_service(node);
}

}  // namespace
}  // namespace berth::test
