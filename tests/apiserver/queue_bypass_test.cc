// SPDX-License-Identifier: Apache-2.0
// Ways around a queue that a tenant with `edit` tries with the chart's webhook and policies: forged
// owners, DaemonSets, claims, Jobs that grow slowly, removed labels.
#include <fmt/format.h>

#include "tests/apiserver/webhook_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr char kPods[] = "/api/v1/namespaces/gpu-team/pods";
constexpr char kJobs[] = "/apis/batch/v1/namespaces/gpu-team/jobs";
constexpr char kMerge[] = "application/merge-patch+json";
constexpr char kOneGpu[] = R"("limits": {"nvidia.com/gpu": "1"})";
constexpr char kAccounts[] = "/api/v1/namespaces/kube-system/serviceaccounts";

std::string job(const std::string& name, const std::string& spec = "") {
  return fmt::format(
      R"({{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "{}"}}, "spec": {{{})"
      R"( "template": {{"spec": {{"restartPolicy": "Never", "containers": [{{"name": "main",)"
      R"( "image": "x", "resources": {{{}}}}}]}}}}}}}})",
      name, spec, kOneGpu);
}

bool is_gated(const Object& pod) {
  for (const Object& gate : pod.items("/spec/schedulingGates"))
    if (gate.text("/name") == "gpu.berth.dev/queue") return true;
  return false;
}

class QueueBypass : public WebhookTest {
 protected:
  void SetUp() override {
    WebhookTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    start_with_a_pool("nvidia.com/gpu.present: 'true'");
    kube().apply(R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {name: vision}
spec:
  default: true
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: gpu-team}}
  quotas: [{resource: nvidia.com/gpu, pool: training, nominalQuota: 2}]
)");
    wait_until("the webhook to know the queue", seconds(60), [&]() -> std::string {
      return is_gated(create_pod("gpu-team", pod("probe", kOneGpu), true).body) ? "" : "not yet";
    });
    tenant_ = std::make_unique<Kube>(person("tenant", "edit", "gpu-team"));
  }
  void TearDown() override {
    if (!IsSkipped()) {
      kube().remove({"gpuqueues", "vision"});
      kube().send("DELETE", std::string(kAccounts) + "/daemon-set-controller");
    }
    WebhookTest::TearDown();
  }

  static std::string owned(const std::string& kind, const std::string& name) {
    std::string made = pod(name, kOneGpu);
    made.insert(made.find("\"name\""),
                fmt::format(R"("ownerReferences": [{{"apiVersion": "x.example.com/v1", "kind":)"
                            R"( "{}", "name": "a", "uid": "b", "controller": true}}],)",
                            kind));
    return made;
  }
  Reply ask(Kube& who, const std::string& method, const std::string& path,
            const std::string& body) {
    return who.send(method, path, body, method == "PATCH" ? kMerge : "application/json");
  }
  void expect_refused(const char* what, const std::string& method, const std::string& path,
                      const std::string& body, const char* words) {
    SCOPED_TRACE(what);
    const Reply reply = ask(*tenant_, method, path, body);
    EXPECT_EQ(reply.status, 403) << reply.body.dump();
    EXPECT_THAT(reply.body.text("/message"), HasSubstr(words));
  }
  // The DaemonSet controller's account in most clusters.
  Kube daemon_set_controller() {
    const std::string account = "daemon-set-controller";
    kube().send("POST", kAccounts,
                R"({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ")" +
                    account + "\"}}");
    const Reply token = kube().send(
        "POST", std::string(kAccounts) + "/" + account + "/token",
        R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})");
    const Credentials own = kube().credentials();
    return Kube({own.server, own.authority_pem, "", "", token.body.text("/status/token")});
  }

  std::unique_ptr<Kube> tenant_;
};

TEST_F(QueueBypass, AForgedOwnerIsGatedLikeAnyOther) {
  for (const char* kind : {"DaemonSet", "Node"}) {
    const std::string name = fmt::format("of-{}", kind[0] == 'D' ? "daemon" : "node");
    const Reply made = ask(*tenant_, "POST", std::string(kPods) + "?dryRun=All", owned(kind, name));
    EXPECT_EQ(made.status, 201) << made.body.dump();
    EXPECT_TRUE(is_gated(made.body)) << made.body.dump();
  }
}

TEST_F(QueueBypass, ADaemonSetsPodsAreRefusedOrCharged) {
  Kube controller = daemon_set_controller();
  const std::string made = owned("DaemonSet", "daemon");
  const Reply refused = ask(controller, "POST", kPods, made);
  EXPECT_EQ(refused.status, 403) << refused.body.dump();
  EXPECT_THAT(refused.body.text("/message"), HasSubstr("spec.admission.daemonSets"));

  kube().patch({"gpuclusterpolicies", "cluster"}, PatchType::kMerge,
               R"({"spec": {"admission": {"daemonSets": "Allow"}}})");
  wait_until("the pod to be allowed", seconds(60), [&]() -> std::string {
    const Reply reply = ask(controller, "POST", kPods, made);
    return reply.ok() ? "" : reply.body.dump();
  });
  EXPECT_FALSE(is_gated(kube().get({"pods", "daemon", "gpu-team"})));
  kube().send("POST", std::string(kPods) + "/daemon/binding",
              R"({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "daemon"}, "target":)"
              R"( {"apiVersion": "v1", "kind": "Node", "name": "n1"}})");
  wait_until("its GPU to be charged", seconds(60), [&]() -> std::string {
    const Object queue = kube().get({"gpuqueues", "vision"});
    return queue.text("/status/totals/used") == "1/2" ? "" : queue.at("/status").dump();
  });
}

TEST_F(QueueBypass, WhatNoQueueCanHoldIsRefused) {
  expect_refused(
      "claim a device", "POST", kPods,
      pod("claims", "", R"("resourceClaims": [{"name": "g", "resourceClaimName": "g"}],)"),
      "no queue counts the devices of a claim");
  expect_refused("keep GPUs for a year", "POST", kPods,
                 pod("slow", kOneGpu, R"("terminationGracePeriodSeconds": 31536000,)"),
                 "spec.admission.maxTerminationGracePeriod");
  // By then the API server has set TerminatingOrFailed in the first.
  for (const char* spec : {"", R"("podReplacementPolicy": "TerminatingOrFailed",)"}) {
    const Reply made =
        ask(*tenant_, "POST", std::string(kJobs) + "?dryRun=All", job("early", spec));
    EXPECT_EQ(made.body.text("/spec/podReplacementPolicy"), "Failed") << made.body.dump();
  }
}

TEST_F(QueueBypass, AJobKeepsItsLabelAndItsDeadline) {
  ASSERT_EQ(ask(*tenant_, "POST", kJobs, job("runs", R"("activeDeadlineSeconds": 3600,)")).status,
            201);
  ASSERT_EQ(ask(*tenant_, "POST", kJobs, job("waits", R"("parallelism": 3,)")).status, 201);
  wait_until("the first to run", seconds(60), [&]() -> std::string {
    const Object one = kube().get({"jobs", "runs", "gpu-team"});
    return one.number("/status/active") == 1 ? "" : one.at("/status").dump();
  });
  const std::string runs = std::string(kJobs) + "/runs", waits = std::string(kJobs) + "/waits";
  for (const char* longer : {R"({"spec": {"activeDeadlineSeconds": 31536000}})",
                             R"({"spec": {"activeDeadlineSeconds": null}})"})
    expect_refused("run for a year", "PATCH", runs, longer, "may only fall");
  for (const std::string& path : {runs, waits})
    expect_refused("lose its queue", "PATCH", path,
                   R"({"metadata": {"labels": {"gpu.berth.dev/queue": null}}})", "keeps its");
  const Reply resumed =
      ask(*tenant_, "PATCH", waits,
          R"({"metadata": {"labels": {"gpu.berth.dev/queue": null}}, "spec": {"suspend": false}})");
  EXPECT_EQ(resumed.status, 403) << resumed.body.dump();
  EXPECT_TRUE(kube().get({"jobs", "waits", "gpu-team"}).truth("/spec/suspend"));
  expect_refused("replace pods early from now on", "PATCH", runs,
                 R"({"spec": {"podReplacementPolicy": "TerminatingOrFailed"}})",
                 "podReplacementPolicy");
}

}  // namespace
}  // namespace berth::test
