// SPDX-License-Identifier: Apache-2.0
// A GPU that breaks, on the real API server: a test Prometheus reports an XID, berth cordons the
// node, remembers it over a restart, and returns it after long enough without findings, once a
// validation Job has succeeded there.
#include <fmt/format.h>

#include <atomic>
#include <chrono>

#include "tests/apiserver/played_exporter.h"
#include "tests/apiserver/rollout_fixture.h"
#include "tests/live/tls_server.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;

// The XIDs of GPU 0 on node n1, now.
class PlayedXids {
 public:
  PlayedXids()
      : server_({.plain = true},
                [this](const TlsServer::Request& request, TlsServer::Connection& to) {
                  to.reply(200, answer(request.line), "Content-Type: application/json\r\n");
                  return true;
                }) {}
  std::string url() const { return fmt::format("http://127.0.0.1:{}", server_.port()); }

  std::atomic<int> xid{79};  // since before berth started
  std::atomic<int> asked{0};
  std::atomic<int> claimed{0};       // the XID that a pod of team-b claims for the GPU
  std::atomic<bool> honored{false};  // that claim is under the exporter's labels

 private:
  // One series; other queries ask for the rest.
  static std::string one(const std::string& target, int value) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return fmt::format(
        R"({{"metric":{{"__name__":"DCGM_FI_DEV_XID_ERRORS",{},"Hostname":"n1","gpu":"0",)"
        R"("UUID":"GPU-0"}},"value":[{:.3f},"{}"]}})",
        target, std::chrono::duration<double>(now).count(), value);
  }
  std::string answer(const std::string& line) {
    const bool range = line.find("query_range") != std::string::npos;
    std::string series;
    if (line.find("count%20by") != std::string::npos) {
      if (claimed > 0 && !honored)
        series = R"({"metric":{"namespace":"team-b","pod":"fake"},"value":[1,"3"]})";
    } else if (line.find("DCGM_FI_DEV_XID_ERRORS") != std::string::npos && !range) {
      ++asked;
      series = one(R"("namespace":"gpu-operator")", xid);
      // A real Prometheus would leave this series out, as it lacks the requested label.
      if (claimed > 0)
        series += "," + one(honored ? R"("namespace":"gpu-operator","endpoint":"x")"
                                    : R"("namespace":"team-b","pod":"fake")",
                            claimed);
    }
    return fmt::format(R"({{"status":"success","data":{{"resultType":"{}","result":[{}]}}}})",
                       range ? "matrix" : "vector", series);
  }

  TlsServer server_;
};

class SickNode : public RolloutTest {
 protected:
  void SetUp() override {
    RolloutTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    invariants_.pool_labels = {"gpu.berth.dev/pool"};
    cluster().add_gpu_node({.name = "n1", .gpus = 2});
    cluster().wait_agents_running();
    exporter_.run_on(kube(), "n1");
    kube().apply(
        fmt::format("apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUClusterPolicy\n"
                    "metadata: {{name: cluster}}\nspec:\n"
                    "  pools: [{{name: all, nodeSelector: {{}}}}]\n"
                    "  metrics: {{interval: 5s, prometheus: {{url: \"{}\"}}}}\n"
                    "  health: {{action: Cordon, recoverAfter: 1m}}\n",
                    prometheus_.url()));
  }
  void wait_cordoned(bool out) {
    wait_for(out ? "n1 to be cordoned" : "n1 to be back", 100, [&]() -> std::string {
      const Object now = node();
      return (now.text("/spec/unschedulable") == "true") == out ? "" : now.at("/spec").dump();
    });
  }
  void wait_looks(int count) {
    const int from = prometheus_.asked;
    wait_for("more looks", 60,
             [&] { return prometheus_.asked >= from + count ? "" : "there were none"; });
  }
  void start() { start_berth({"--proof-image=registry.example/cuda:12"}); }
  // The scheduler has bound one Job's pod to the cordoned node, and there is no other.
  Object wait_proof() {
    std::vector<Object> pods;
    wait_for("a proof to run", 100, [&]() -> std::string {
      pods = kube().list("pods", "berth-system", "labelSelector=gpu.berth.dev/proof%3Dtrue");
      std::erase_if(pods, [](const Object& pod) { return pod.text("/status/phase") != "Running"; });
      return pods.size() == 1 ? "" : fmt::format("{} run", pods.size());
    });
    return pods.at(0);
  }
  // The kubelet's part; the job controller does the rest.
  void end(const Object& pod, const char* status) {
    kube().patch({"pods", pod.name(), "berth-system"}, PatchType::kMerge, status, "status");
  }
  Object node() { return kube().get({"nodes", "n1"}); }
  std::string health() { return node().annotation("gpu.berth.dev/health"); }

  std::string policy_says() {
    return kube().get({"gpuclusterpolicies", "cluster"}).at("/status/conditions").dump();
  }
  void wait_policy_says(const std::string& words) {
    wait_for("the policy to say " + words, 60, [&]() -> std::string {
      const std::string told = policy_says();
      return told.find(words) != std::string::npos ? "" : told;
    });
  }
  // As a user who wants berth only to report faults.
  void return_to_service() {
    kube().patch({"gpuclusterpolicies", "cluster"}, PatchType::kMerge,
                 R"({"spec": {"health": {"action": "Report"}}})");
    wait_cordoned(false);
  }
  static std::string xids(int code) {
    return fmt::format("DCGM_FI_DEV_XID_ERRORS{{Hostname=\"n1\",gpu=\"0\",UUID=\"GPU-0\"}} {}\n",
                       code);
  }

  PlayedXids prometheus_;
  PlayedExporter exporter_{[this] { return xids(prometheus_.xid); }};
};

TEST_F(SickNode, IsNotCordonedForWhatAnotherPodClaimsOfIt) {
  prometheus_.xid = 0;
  start();
  wait_looks(3);
  // Under its own labels it does not count, whatever Prometheus answers.
  prometheus_.claimed = 79;
  wait_policy_says("MetricsIgnored");
  wait_policy_says("without namespace=gpu-operator");
  wait_looks(3);
  EXPECT_EQ(health(), "");
  EXPECT_NE(node().text("/spec/unschedulable"), "true");
  // Under the exporter's labels, which honor_labels allows, berth only reports it.
  prometheus_.honored = true;
  wait_policy_says("NotConfirmed");
  wait_looks(4);
  EXPECT_NE(node().text("/spec/unschedulable"), "true");
  EXPECT_THAT(health(), HasSubstr("not confirmed by the node's own exporter"));
  EXPECT_THAT(health(), HasSubstr("\"phase\":\"Reported\""));
  // The exporter itself shows it.
  prometheus_.xid = 79;
  wait_cordoned(true);
  return_to_service();
}

// At the exporter's former address another pod may listen by now.
TEST_F(SickNode, IsNotCordonedForWhatAnExportersFormerAddressSays) {
  PlayedExporter squatter([] { return xids(79); });
  PlayedExporter::move_to(kube(), "n1", squatter.address());
  kube().patch({"gpuclusterpolicies", "cluster"}, PatchType::kMerge,
               R"({"spec": {"metrics": {"prometheus": null}}})");
  prometheus_.xid = 0;
  start();
  wait_for("the exporter to be scraped", 60,
           [&] { return squatter.connections() > 0 ? "" : "it was not"; });
  PlayedExporter::move_to(kube(), "n1", exporter_.address());
  const int before = exporter_.connections();
  wait_for("it to be scraped at its new address", 60,
           [&] { return exporter_.connections() >= before + 3 ? "" : "it was not"; });
  const int after = squatter.connections();
  wait_for("more rounds", 60,
           [&] { return exporter_.connections() >= before + 6 ? "" : "there were none"; });
  EXPECT_EQ(squatter.connections(), after);
  EXPECT_NE(node().text("/spec/unschedulable"), "true");
  prometheus_.xid = 79;
  wait_cordoned(true);
  return_to_service();
}

TEST_F(SickNode, GoesOutOfServiceAndComesBackOnceItsProofHasPassed) {
  start();
  wait_looks(3);
  EXPECT_EQ(health(), "") << "an old number says nothing";
  prometheus_.xid = 48;
  wait_cordoned(true);
  EXPECT_THAT(health(), HasSubstr("GPU 0: XID 48, a double-bit error of its memory"));

  // The next process knows the number as an old one, and whose the cordon is.
  kill_berth();
  start();
  wait_looks(2);
  EXPECT_EQ(node().text("/spec/unschedulable"), "true");
  wait_for("the policy to tell", 40, [&]() -> std::string {
    const Object policy = kube().get({"gpuclusterpolicies", "cluster"});
    return policy.text("/status/totals/unhealthyNodes") == "1" ? "" : policy.at("/status").dump();
  });
  const Object proof = wait_proof();
  EXPECT_EQ(proof.text("/spec/nodeName"), "n1");

  // The next leader finds the running validation Job.
  kill_berth();
  start();
  wait_looks(2);
  EXPECT_EQ(wait_proof().uid(), proof.uid());
  EXPECT_EQ(node().text("/spec/unschedulable"), "true");
  end(proof, R"({"status": {"phase": "Succeeded", "containerStatuses": [{"name": "proof",)"
             R"( "image": "x", "imageID": "x", "ready": false, "restartCount": 0, "state":)"
             R"( {"terminated": {"exitCode": 0, "reason": "Completed"}}}]}})");
  wait_cordoned(false);
  EXPECT_THAT(health(), HasSubstr("\"phase\":\"Recovered\""));
  kill_berth();
  EXPECT_EQ(kube().list("jobs", "berth-system").size(), 1u) << "one was enough";
}

TEST_F(SickNode, StaysOutWhenItsProofFails) {
  start();
  wait_looks(3);
  prometheus_.xid = 48;
  wait_cordoned(true);
  const Object proof = wait_proof();
  end(proof, R"({"status": {"phase": "Failed", "containerStatuses": [{"name": "proof",)"
             R"( "image": "x", "imageID": "x", "ready": false, "restartCount": 0, "state":)"
             R"( {"terminated": {"exitCode": 9, "reason": "Error"}}}]}})");
  wait_for("its failure to be told", 100, [&]() -> std::string {
    return health().find("failed with exit code 9") != std::string::npos ? "" : health();
  });
  EXPECT_EQ(node().text("/spec/unschedulable"), "true");
  return_to_service();
}

// Every later patch of the node tests the record, including the reporter's text.
TEST_F(SickNode, ComesBackWhateverCharactersTellOfItsFault) {
  start();
  kube().patch({"nodes", "n1"}, PatchType::kStrategic,
               R"({"status": {"conditions": [{"type": "GPUMissing", "status": "True", "reason":)"
               R"( "a<b>&\"c\" \u2028\u2029\u007f Zo\u00eb", "message": "x"}]}})",
               "status");
  wait_cordoned(true);
  EXPECT_THAT(health(), HasSubstr("a<b>&"));
  kube().patch({"gpuclusterpolicies", "cluster"}, PatchType::kMerge,
               R"({"spec": {"health": {"action": "Report"}}})");
  wait_cordoned(false);
}

using StoredPolicies = RolloutTest;

// The API server stores defaults in objects: a new default only applies to new policies.
TEST_F(StoredPolicies, OfAnEarlierReleaseKeepTheActionThatWasTheDefaultThen) {
  const auto set_default = [&](const char* action) {
    kube().patch({"customresourcedefinitions", "gpuclusterpolicies.gpu.berth.dev"},
                 PatchType::kJson,
                 fmt::format(R"([{{"op": "replace", "path": "/spec/versions/0/schema/)"
                             R"(openAPIV3Schema/properties/spec/properties/health/properties/)"
                             R"(action/default", "value": "{}"}}])",
                             action));
  };
  const auto apply = [&] {
    kube().apply(
        "apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUClusterPolicy\n"
        "metadata: {name: cluster}\nspec: {pools: [{name: all, nodeSelector: {}}]}\n");
    return kube().get({"gpuclusterpolicies", "cluster"}).text("/spec/health/action");
  };
  const auto wait_created_with = [&](const char* action) {
    wait_for("a new policy to get the default", 30, [&]() -> std::string {
      kube().remove({"gpuclusterpolicies", "cluster"});
      const std::string got = apply();
      return got == action ? "" : got;
    });
  };
  EXPECT_EQ(apply(), "Report");
  set_default("Cordon");
  wait_created_with("Cordon");
  set_default("Report");
  // A replacement without spec.health shows the default.
  wait_for("the new default", 30, [&]() -> std::string {
    const Object now = kube().get({"gpuclusterpolicies", "cluster"});
    const Reply replaced = kube().send(
        "PUT", "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies/cluster?dryRun=All",
        fmt::format(R"({{"apiVersion": "gpu.berth.dev/v1alpha1", "kind": "GPUClusterPolicy",)"
                    R"( "metadata": {{"name": "cluster", "resourceVersion": "{}"}},)"
                    R"( "spec": {{"pools": [{{"name": "all", "nodeSelector": {{}}}}]}}}})",
                    now.text("/metadata/resourceVersion")));
    return replaced.body.text("/spec/health/action") == "Report" ? "" : replaced.body.dump();
  });
  EXPECT_EQ(apply(), "Cordon") << "the same manifest again";
  wait_created_with("Report");
}

}  // namespace
}  // namespace berth::test
