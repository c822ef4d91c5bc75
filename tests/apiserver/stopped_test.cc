// SPDX-License-Identifier: Apache-2.0
// `berth stop` and `berth resume` in the middle of a rollout, with a policy and without one.
#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kStop[] = "gpu.berth.dev/stop";

// A Job's pod runs on n1, and n1 stays cordoned as long as the pod runs.
class Stopped : public RolloutTest {
 protected:
  void SetUp() override {
    RolloutTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_nodes(1, {});
    cluster().wait_agents_running();
    cluster().add_job({.name = "train", .count = 1});
    cluster().wait_pods_running("team-a", "train", 1);
  }
  void TearDown() override {
    if (!IsSkipped()) kube().set_annotation({"namespaces", "berth-system"}, kStop, "");
    RolloutTest::TearDown();
  }
  void drain() {
    start_berth();
    Layout layout;
    layout.drain = {"waitForCompletion: {podSelector: {matchLabels: {app: train}}, timeout: 10m}"};
    apply(layout);
    wait_phase("n1", "Cordoned");
  }
  // Runs the command, which has to succeed, and returns its output.
  std::string berth_command(std::vector<std::string> words) {
    words.insert(words.begin(), berth_program());
    words.insert(words.end(), {"--kubeconfig",
                               plane().write_kubeconfig("admin.kubeconfig", kube().credentials())});
    static int runs = 0;
    Child child(std::move(words), plane().scratch() + "/stop-" + std::to_string(++runs) + ".log");
    EXPECT_EQ(child.wait(seconds(60)), 0) << child.log_text();
    return child.log_text();
  }
  std::string stopped_by(const Object& object) {
    for (const Object& condition : object.items("/status/conditions"))
      if (condition.text("/type") == "Stopped") return condition.text("/message");
    return "";
  }
  void wait_given_back() {
    wait_for("n1 to be given back", 40,
             [&] { return phase("n1") == "Idle" && !cordoned("n1") ? "" : phase("n1"); });
    EXPECT_EQ(kube().get({"nodes", "n1"}).label("nvidia.com/mig.config"), "all-disabled");
    EXPECT_EQ(cluster().pods_of("team-a", "train").size(), 1u);
    wait_for("the layout to say so", 40, [&] { return stopped_by(layout()).empty() ? "not" : ""; });
    EXPECT_THAT(stopped_by(layout()), HasSubstr(": incident 4711; `berth resume` ends the stop"));
    EXPECT_EQ(layout().condition("Stalled"), "");
    EXPECT_EQ(layout().condition("Reconciling"), "");
  }
  void finish() {
    wait_phase("n1", "Cordoned");
    cluster().finish_pods("team-a", "train");
    wait_ready("inference-a100", 60);
    EXPECT_EQ(stopped_by(layout()), "");
    for (const AuditEvent& event : writes())
      EXPECT_NE(event.subresource, "eviction") << event.describe();
  }
  std::string metric() {
    Kube probe(Credentials{.server = "http://127.0.0.1:" + std::to_string(berth().metrics_port())});
    const std::string text = probe.send("GET", "/metrics").body.text("");
    const std::size_t at = text.find("\nberth_operations_stopped ");
    return at == text.npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  }
};

TEST_F(Stopped, ByThePolicyInTheMiddleOfADrain) {
  kube().apply(
      "apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUClusterPolicy\nmetadata: {name: cluster}\n"
      "spec: {pools: [{name: lab, nodeSelector: {matchLabels: {tier: none}}}]}\n");
  drain();
  EXPECT_EQ(metric(), "berth_operations_stopped 0");
  EXPECT_THAT(berth_command({"stop", "--reason", "incident 4711"}),
              HasSubstr("Stopped by spec.operations of GPUClusterPolicy/cluster."));
  wait_given_back();
  const Object policy = kube().get({"gpuclusterpolicies", "cluster"});
  EXPECT_EQ(policy.text("/spec/operations"), "Stopped");
  EXPECT_THAT(policy.annotation(kStop), HasSubstr(R"("reason":"incident 4711","by":")"));
  EXPECT_THAT(stopped_by(policy), HasSubstr("incident 4711"));
  // berth caches the text of a scrape for some seconds.
  wait_for("the metric to say so", 40, [&]() -> std::string {
    const std::string told = metric();
    return told == "berth_operations_stopped 1" ? "" : "it is " + told;
  });

  EXPECT_THAT(berth_command({"resume"}), HasSubstr("GPUClusterPolicy/cluster no longer stops"));
  finish();
  EXPECT_EQ(kube().get({"gpuclusterpolicies", "cluster"}).annotation(kStop), "");
  EXPECT_EQ(berth_command({"resume"}), "berth was not stopped.\n");
}

TEST_F(Stopped, WithoutAPolicyByTheNamespace) {
  drain();
  EXPECT_THAT(berth_command({"stop", "--reason", "incident 4711"}),
              HasSubstr("Stopped by annotation gpu.berth.dev/stop of Namespace/berth-system"));
  wait_given_back();
  EXPECT_THAT(berth_command({"resume"}), HasSubstr("Namespace/berth-system no longer stops"));
  finish();
}

TEST_F(Stopped, WhatMigManagerRepartitionsIsFinished) {
  cluster().finish_pods("team-a", "train");
  start_berth();
  apply({});
  wait_phase("n1", "Applying");
  berth_command({"stop", "--reason", "incident 4711"});
  wait_ready("inference-a100", 60);
  EXPECT_FALSE(cordoned("n1"));
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
  wait_for("the layout to say so", 40, [&] { return stopped_by(layout()).empty() ? "not" : ""; });
}

}  // namespace
}  // namespace berth::test
