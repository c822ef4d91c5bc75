// SPDX-License-Identifier: Apache-2.0
// Tests of the environment of the other tests here, without berth: the control plane runs pods,
// NVIDIA's DaemonSets run on GPU nodes, and the node agent reacts to labels as mig-manager, device
// plugin and discovery do.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <tuple>

#include "tests/apiserver/plane_fixture.h"
#include "tests/support/fault_proxy.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr char kConfigs[] =
    R"({"metadata": {"name": "berth-mig-parted-config"}, "data": {"config.yaml":
"version: v1\nmig-configs:\n  all-disabled:\n  - {devices: all, mig-enabled: false}\n  berth-split:\n  - {devices: [0, 1], mig-enabled: true, mig-devices: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}}\n  - {devices: [2, 3], mig-enabled: true, mig-devices: {1g.10gb: 7}}\n  berth-impossible:\n  - {devices: all, mig-enabled: true, mig-devices: {3g.40gb: 2, 1g.10gb: 1}}\n"}})";

class Plane : public PlaneTest {
 protected:
  void SetUp() override {
    PlaneTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().install_agents();
    kube().create("configmaps", "gpu-operator", kConfigs);
  }

  std::string state(const std::string& node) {
    return kube().get({"nodes", node}).label("nvidia.com/mig.config.state");
  }

  // Like berth: the new value without the old state, in one patch.
  void ask_for(const std::string& node, const std::string& config) {
    kube().patch(
        {"nodes", node}, PatchType::kMerge,
        R"({"metadata": {"labels": {"nvidia.com/mig.config.state": null, "nvidia.com/mig.config": ")" +
            config + R"("}}})");
  }

  void wait_state(const std::string& node, const std::string& wanted) {
    wait_until(node + " to say " + wanted, seconds(30),
               [&] { return state(node) == wanted ? "" : "it says \"" + state(node) + "\""; });
  }

  void wait_allocatable(const std::string& node, const std::map<std::string, int>& wanted) {
    wait_until(node + "'s allocatable", seconds(30), [&]() -> std::string {
      std::string got;
      for (const auto& [key, count] : cluster().gpu_allocatable(node))
        got += key + "=" + std::to_string(count) + " ";
      return cluster().gpu_allocatable(node) == wanted ? "" : "it is " + got;
    });
  }
};

const std::map<std::string, int> kSplit = {
    {"nvidia.com/mig-1g.10gb", 18}, {"nvidia.com/mig-2g.20gb", 2}, {"nvidia.com/mig-3g.40gb", 2}};

TEST_F(Plane, EightNodesRunNvidiasDaemonSetsAndOneIsRepartitioned) {
  cluster().add_gpu_nodes(8, {});
  cluster().wait_agents_running();
  cluster().add_deployment({.name = "serve", .replicas = 2, .count = 4});
  cluster().wait_pods_running("team-a", "serve", 2);

  std::string idle;
  for (const Object& node : kube().list("nodes")) {
    bool busy = false;
    for (const Object& pod : cluster().pods_on(node.name())) busy = busy || pod.ns() == "team-a";
    if (!busy) idle = node.name();
  }
  kube().cordon(idle);
  ask_for(idle, "berth-split");
  wait_state(idle, "success");
  wait_allocatable(idle, kSplit);
  wait_until("discovery's labels", seconds(10), [&] {
    return kube().get({"nodes", idle}).label("nvidia.com/mig-1g.10gb.count") == "18"
               ? ""
               : "they are old";
  });
  // Paused and restored, and only the requested resources are advertised; the key of full GPUs
  // remains with 0.
  const Object node = kube().get({"nodes", idle});
  EXPECT_EQ(node.label("nvidia.com/gpu.deploy.device-plugin"), "true");
  EXPECT_EQ(node.text("/status/allocatable/nvidia.com~1gpu"), "0");
  EXPECT_EQ(node.label("nvidia.com/gpu.product"), "NVIDIA-A100-SXM4-80GB");

  // The same value is no change; going back to another value is.
  ask_for(idle, "all-disabled");
  wait_state(idle, "success");
  wait_allocatable(idle, {{"nvidia.com/gpu", 4}});
}

TEST_F(Plane, TheAgentRefusesWhatTheRealOneRefuses) {
  cluster().add_gpu_nodes(1, {});
  cluster().wait_agents_running();

  ask_for("n1", "no-such-config");
  wait_state("n1", "failed");
  ask_for("n1", "berth-impossible");
  wait_state("n1", "failed");
  EXPECT_EQ(kube().get({"nodes", "n1"}).label("nvidia.com/gpu.deploy.device-plugin"), "true");

  // MIG is on now and the GPUs are empty: only going back restores them.
  ask_for("n1", "all-disabled");
  wait_state("n1", "success");
  wait_allocatable("n1", {{"nvidia.com/gpu", 4}});

  cluster().add_deployment({.name = "serve", .count = 1});
  cluster().wait_pods_running("team-a", "serve", 1);
  ask_for("n1", "berth-split");
  wait_state("n1", "failed");
  EXPECT_THAT(agent().log_tail(), ::testing::HasSubstr("in use by another client: team-a/serve"));
}

TEST_F(Plane, FaultsLeaveTheNodeAsNvidiasBugsDo) {
  cluster().add_gpu_nodes(5, {});
  cluster().wait_agents_running();
  const char* faults[] = {"wedge", "fail-labels-paused", "lie", "reboot", "fail-once"};
  for (int i = 0; i < 5; ++i) {
    const std::string node = "n" + std::to_string(i + 1);
    kube().set_annotation({"nodes", node}, "test.berth.dev/fault", faults[i]);
    ask_for(node, "berth-split");
  }
  const auto deploy = [&](const std::string& node) {
    return kube().get({"nodes", node}).label("nvidia.com/gpu.deploy.device-plugin");
  };
  wait_state("n2", "failed");
  EXPECT_EQ(deploy("n2"), "paused-for-mig-change");
  wait_state("n3", "success");
  wait_state("n5", "failed");
  EXPECT_EQ(deploy("n5"), "true");
  wait_until("n1 to be wedged", seconds(10), [&] {
    return agent().log_text().find("n1: the wait for") != std::string::npos ? "" : "not yet";
  });
  EXPECT_EQ(state("n1"), "pending");
  EXPECT_EQ(deploy("n1"), "paused-for-mig-change");
  wait_allocatable("n1", {});
  wait_allocatable("n3", {});  // mig-manager lies: success without devices

  // The rebooted node has another bootID, and its instances are created again.
  wait_state("n4", "success");
  wait_allocatable("n4", kSplit);
  EXPECT_NE(kube().get({"nodes", "n4"}).text("/status/nodeInfo/bootID"), "b007n4");
  EXPECT_EQ(kube().get({"nodes", "n4"}).condition("Ready"), "True");

  // If mig-manager's pod is deleted, the next one runs again with the present label: the remedy for
  // a hanging run.
  kube().set_annotation({"nodes", "n1"}, "test.berth.dev/fault", "");
  for (const Object& pod : cluster().pods_on("n1"))
    if (pod.label("app") == "nvidia-mig-manager")
      kube().remove({"pods", pod.name(), "gpu-operator"});
  wait_state("n1", "success");
  wait_allocatable("n1", kSplit);
}

TEST_F(Plane, AJobsPodEndsWhenToldAndABudgetHolds) {
  cluster().add_gpu_nodes(1, {});
  cluster().wait_agents_running();
  cluster().add_job({.name = "train", .count = 2}, {.backoff_limit = 0});
  cluster().add_deployment({.name = "serve", .count = 1});
  cluster().add_budget("team-a", "serve", "serve", "minAvailable: 1");
  cluster().wait_pods_running("team-a", "serve", 1);
  cluster().wait_pods_running("team-a", "train", 1);
  wait_until("the budget to be computed", seconds(20), [&] {
    return kube().get({"poddisruptionbudgets", "serve", "team-a"})
                       .number("/status/currentHealthy") == 1
               ? ""
               : "not yet";
  });
  EXPECT_EQ(kube().evict("team-a", cluster().pods_of("team-a", "serve").at(0).name()).status, 429);

  cluster().finish_pods("team-a", "train");
  wait_until("the job to be complete", seconds(20), [&] {
    return kube().get({"jobs", "train", "team-a"}).condition("Complete") == "True" ? "" : "not yet";
  });
}

TEST_F(Plane, ACompactedWatchIsAnswered410AfterARestart) {
  const std::string old = kube().send("GET", "/api/v1/nodes").body.resource_version();
  cluster().add_gpu_nodes(1, {});
  plane().compact_etcd();
  plane().restart_apiserver();
  std::string code;
  kube().watch(
      "/api/v1/nodes?watch=1&timeoutSeconds=60&resourceVersion=" + old,
      [&](const std::string&, const Object& object) {
        code = object.text("/code");
        return false;
      },
      seconds(60));
  EXPECT_EQ(code, "410");
}

TEST_F(Plane, AVersionAheadOfTheServersIsRefusedForThatCause) {
  const std::string ahead = "&resourceVersionMatch=NotOlderThan&resourceVersion=999999999";
  const Reply list = kube().send("GET", "/api/v1/nodes?limit=500" + ahead);
  EXPECT_EQ(list.status, 504);
  EXPECT_EQ(list.body.text("/details/causes/0/reason"), "ResourceVersionTooLarge");
  std::string cause;
  kube().watch(
      "/api/v1/nodes?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&timeoutSeconds=60" +
          ahead,
      [&](const std::string&, const Object& object) {
        cause = object.text("/details/causes/0/reason");
        return false;
      },
      seconds(60));
  EXPECT_EQ(cause, "ResourceVersionTooLarge");
}

TEST_F(Plane, DiscoveryNamesEvictionWithItsOwnGroupVersion) {
  const Object core = kube().send("GET", "/api/v1").body;
  std::string found;
  for (const Object& resource : core.items("/resources"))
    if (resource.text("/name") == "pods/eviction")
      found = resource.text("/group") + "/" + resource.text("/version");
  EXPECT_EQ(found, "policy/v1");
  EXPECT_EQ(kube().send("GET", "/apis/no.such.group/v1").status, 404);
}

TEST_F(Plane, TheFaultProxyRefusesHoldsLosesAndCutsOnOrder) {
  cluster().add_gpu_nodes(1, {});
  FaultProxy proxy(plane());
  Kube through(proxy.credentials());
  proxy.add({.id = "refuse",
             .path = "^/api/v1/nodes$",
             .action = "status",
             .skip = 1,
             .times = 1,
             .status = 429});
  EXPECT_EQ(through.send("GET", "/api/v1/nodes").status, 200);
  EXPECT_EQ(through.send("GET", "/api/v1/nodes").status, 429);
  EXPECT_EQ(through.send("GET", "/api/v1/nodes").status, 200);
  EXPECT_EQ(proxy.matched("refuse"), 1);

  // hold: the server gets the request after the release. hold-reply: it has it already. lose: it
  // never gets it.
  const auto label_in_background = [&](const std::string& value) {
    return std::thread([&proxy, value] {
      Kube own(proxy.credentials());
      own.send("PATCH", "/api/v1/nodes/n1",
               R"({"metadata":{"labels":{"example.com/x":")" + value + R"("}}})",
               "application/merge-patch+json");
    });
  };
  const auto label = [&] { return kube().get({"nodes", "n1"}).label("example.com/x"); };
  const std::tuple<const char*, const char*, const char*> ways[] = {
      {"hold", "", "hold"},
      {"hold-reply", "hold-reply", "hold-reply"},
      {"lose", "hold-reply", "hold-reply"}};
  for (const auto& [action, before, after] : ways) {
    proxy.add({.id = "hold", .method = "WRITE", .body = "example.com/x", .action = action});
    std::thread sender = label_in_background(action);
    wait_until("the request to be held", seconds(10),
               [&] { return proxy.holding("hold") == 1 ? "" : "it is not"; });
    EXPECT_EQ(label(), before) << action;
    proxy.release("hold");
    sender.join();
    EXPECT_EQ(label(), after) << action;
  }

  std::atomic<bool> saw_event{false};
  std::thread watcher([&] {
    Kube own(proxy.credentials());
    const auto on_event = [&](const std::string&, const Object&) {
      saw_event = true;
      return true;
    };
    own.watch("/api/v1/nodes?watch=1&timeoutSeconds=60", on_event, seconds(50));
  });
  wait_until("the watch to stream", seconds(10), [&] { return saw_event ? "" : "no event came"; });
  proxy.cut_watches();
  watcher.join();  // long before its timeout
}

}  // namespace
}  // namespace berth::test
