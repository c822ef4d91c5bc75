// SPDX-License-Identifier: Apache-2.0
// A control plane with faults during a rollout: the server restarted, history compacted, requests
// throttled and refused, watches cut. The rollout ends as usual, and no invariant is violated
// meanwhile.
#include <thread>

#include "tests/apiserver/rollout_fixture.h"
#include "tests/support/fault_proxy.h"

namespace berth::test {
namespace {

// Longer than the server is down.
const std::vector<std::string> kPatient = {"--leader-elect-lease-duration=120s",
                                           "--leader-elect-renew-deadline=100s"};

class Trouble : public RolloutTest {
 protected:
  void SetUp() override {
    RolloutTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    nodes_ = cluster().add_gpu_nodes(3, {});
    cluster().wait_agents_running();
    cluster().add_deployment({.name = "serve", .count = 2});
    cluster().wait_pods_running("team-a", "serve", 1);
  }

  void wait_first_cordon() {
    wait_for("a node to be out", 40, [&]() -> std::string {
      for (const std::string& node : nodes_)
        if (cordoned(node)) return "";
      return "none is";
    });
  }

  void expect_done() {
    wait_ready("inference-a100", 120);
    for (const std::string& node : nodes_) {
      EXPECT_EQ(cluster().gpu_allocatable(node), kMixedA100) << node;
      EXPECT_FALSE(cordoned(node)) << node;
    }
  }

  std::vector<std::string> nodes_;
};

TEST_F(Trouble, TheServerIsRestartedInTheMiddle) {
  apply({});
  start_berth(kPatient);
  wait_first_cordon();
  plane().restart_apiserver();
  expect_done();
  EXPECT_TRUE(berth().process().running())
      << "a restart shorter than the renew deadline is no reason to exit";
}

TEST_F(Trouble, HistoryIsCompactedWhileTheWatchesAreAway) {
  FaultProxy proxy(plane());
  apply({});
  start_berth_at(proxy.kubeconfig(), kPatient);
  wait_first_cordon();
  proxy.add({.id = "away", .path = "[?&]watch=", .action = "status", .status = 503});
  proxy.cut_watches();
  for (const std::string& node : nodes_)
    kube().set_label({"nodes", node}, "example.com/moved", "on");
  wait_for("berth to ask in vain", 30,
           [&]() -> std::string { return proxy.matched("away") >= 3 ? "" : "not yet"; });
  plane().compact_etcd();
  plane().restart_apiserver();  // its watch cache is lost too: berth's versions are older than all
                                // that the server has
  proxy.remove("away");
  expect_done();
  EXPECT_THAT(berth().process().log_text(), ::testing::HasSubstr("too old resource version"))
      << "the watches were not answered 410";
}

TEST_F(Trouble, EtcdIsRestoredUnderARunningBerth) {
  start_berth(kPatient);
  wait_for("berth to lead", 40, [&]() -> std::string {
    return berth().process().log_text().find("  working ") != std::string::npos ? "" : "not yet";
  });
  plane().save_etcd();
  for (int i = 0; i < 30; ++i)
    kube().set_label({"namespaces", "team-a"}, "example.com/moved", std::to_string(i));
  std::this_thread::sleep_for(std::chrono::seconds(2));  // berth sees the last change
  plane().restore_etcd();
  const auto code = berth().process().wait(std::chrono::seconds(90));
  EXPECT_EQ(code, 1) << berth().process().log_tail();
  EXPECT_THAT(berth().process().log_text(), ::testing::HasSubstr("history went back"));
}

TEST_F(Trouble, RequestsAreThrottledAndRefused) {
  FaultProxy proxy(plane());
  proxy.add({.id = "throttled",
             .method = "WRITE",
             .not_path = "/leases",
             .action = "status",
             .probability = 0.2,
             .status = 429,
             .retry_after = "1"});
  proxy.add({.id = "refused",
             .method = "WRITE",
             .not_path = "/leases",
             .action = "status",
             .probability = 0.15,
             .status = 500});
  proxy.add({.id = "unavailable",
             .not_path = "/leases",
             .action = "status",
             .probability = 0.1,
             .status = 503});
  proxy.add({.id = "broken",
             .method = "WRITE",
             .not_path = "/leases",
             .action = "drop-reply",
             .probability = 0.1});
  apply({});
  start_berth_at(proxy.kubeconfig());
  expect_done();
  EXPECT_GT(proxy.matched("throttled") + proxy.matched("refused") + proxy.matched("broken"), 5);
}

TEST_F(Trouble, WatchesAreCutAgainAndAgain) {
  FaultProxy proxy(plane());
  apply({});
  start_berth_at(proxy.kubeconfig());
  int polls = 0;
  wait_for("the rollout to be done between cuts", 120, [&]() -> std::string {
    if (++polls % 20 == 0) proxy.cut_watches();
    const Object now = layout();
    return now.condition("Ready") == "True" ? "" : now.at("/status").dump();
  });
  expect_done();
}

}  // namespace
}  // namespace berth::test
