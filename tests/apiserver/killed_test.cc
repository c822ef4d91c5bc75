// SPDX-License-Identifier: Apache-2.0
// SIGKILL at every write of the headline rollout: applied with the reply lost, lost on the way, or
// arriving after its sender's death. Each life of berth gets one write past its epoch; the end must
// be the end of the undisturbed rollout.
#include "tests/apiserver/rollout_fixture.h"
#include "tests/support/fault_proxy.h"

namespace berth::test {
namespace {

using ::testing::IsEmpty;

class Killed : public RolloutTest {
 protected:
  // The two leases of a life: short, since each successor waits its predecessor's out.
  Berth::Options life(const FaultProxy& proxy) {
    Berth::Options options;
    options.name = "berth-lives";
    options.kubeconfig = proxy.kubeconfig();
    options.flags = {"--leader-elect-lease-duration=1500ms", "--leader-elect-renew-deadline=1s",
                     "--leader-elect-retry-period=250ms"};
    return options;
  }

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
  while (!done()) {
    ASSERT_LT(kills, 300) << "no progress: " << layout().at("/status").dump();
    // Its first write is the epoch; the next one is held, and the process dies over it.
    proxy.add({.id = "kill",
               .method = "WRITE",
               .not_path = "/leases|/events|dryRun=",
               .action = ways[kills % 4],
               .skip = 1,
               .times = 1});
    Berth one(plane(), life(proxy));
    wait_until("berth's next write", std::chrono::seconds(60), [&]() -> std::string {
      if (proxy.holding("kill") > 0 || done()) return "";
      if (!one.process().running())
        return "";  // it lost its lease on a busy machine: a death like any other
      return one.process().log_tail(3);
    });
    one.process().kill_now();
    proxy.release("kill");
    ++kills;
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
