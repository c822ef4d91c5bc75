// SPDX-License-Identifier: Apache-2.0
// SIGKILL at every write of the README's rollout: applied with the reply lost, lost on the way, or
// arriving after its sender's death. Each life of berth makes one write after its epoch; the
// rollout must still end as an undisturbed one.
#include "tests/apiserver/rollout_fixture.h"
#include "tests/support/fault_proxy.h"

namespace berth::test {
namespace {

using ::testing::IsEmpty;

class Killed : public RolloutTest {
 protected:
  bool done() {
    const Object now = layout();
    return now.condition("Ready") == "True" &&
           now.number("/status/observedGeneration") == now.number("/metadata/generation");
  }
};

TEST_F(Killed, AtEveryWriteOfTheRollout) {
  const auto nodes = cluster().add_gpu_nodes(8, {});
  cluster().wait_agents_running();
  cluster().add_deployment({.name = "serve", .replicas = 2, .count = 3});
  cluster().wait_pods_running("team-a", "serve", 2);
  apply({});

  FaultProxy proxy(plane());
  const char* const ways[] = {"hold-reply", "hold", "hold-reply", "lose"};
  int kills = 0;
  for (int life_number = 0; !done(); ++life_number) {
    ASSERT_LT(life_number, 200) << "no progress: " << layout().at("/status").dump();
    // Its first write is the epoch. The proxy holds the next one, and the process dies.
    proxy.add({.id = "kill",
               .method = "WRITE",
               .not_path = "/leases|/events|dryRun=",
               .action = ways[kills % 4],
               .skip = 1,
               .times = 1});
    Berth one(plane(), {.name = "berth-lives", .kubeconfig = proxy.kubeconfig()});
    wait_until("berth's next write", std::chrono::seconds(60), [&]() -> std::string {
      if (proxy.holding("kill") > 0 || done()) return "";
      // On a busy machine it may lose its lease, which counts as a death. Any other end is an
      // error.
      if (!one.process().running() && one.process().log_tail(1).find("lease") == std::string::npos)
        throw std::runtime_error("berth ended by itself:\n" + one.process().log_tail(5));
      if (!one.process().running()) return "";
      return "it last said " + one.process().log_tail(3);
    });
    if (proxy.holding("kill") > 0) ++kills;
    one.process().kill_now();
    proxy.release("kill");
    // As if it had expired; two_leaders_test is about the wait for that.
    kube().remove({"leases", "berth-controller", "berth-system"});
  }
  EXPECT_GE(kills, 50);

  start_berth();
  wait_for("the last life to settle", 60, [&]() -> std::string {
    for (const std::string& node : nodes)
      if (phase(node) != "Idle" || cordoned(node)) return node + " is " + phase(node);
    const Object slots = kube().get({"configmaps", "berth-node-slots", "berth-system"});
    return slots.strings("/data").empty() ? "" : "slots: " + slots.at("/data").dump();
  });
  for (const std::string& node : nodes)
    EXPECT_EQ(cluster().gpu_allocatable(node), kMixedA100) << node;
  RecordProperty("kills", kills);
}

}  // namespace
}  // namespace berth::test
