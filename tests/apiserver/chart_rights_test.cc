// SPDX-License-Identifier: Apache-2.0
// Requests that an attacker with berth's tokens can't send successfully. Every request of the
// tables is sent with the token of one of the chart's ServiceAccounts, writes as a dry run, and
// must get a 403 with the given text: from RBAC, or from one of the chart's admission policies. The
// requests that the policies refuse are sent once more by accounts with cluster-admin: the policies
// work without RBAC.
#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/apiserver/chart_acts.h"
#include "tests/apiserver/chart_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr char kDaemon[] =
    "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: daemon, namespace: team-a}, spec: "
    "{selector: {matchLabels: {app: daemon}}, template: {metadata: {labels: {app: daemon}}, spec: "
    "{nodeSelector: {kubernetes.io/hostname: n1}, containers: [{name: main, image: x}]}}}}";
// A node requirement of the pods' own.
constexpr char kOwn[] =
    "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}}";
constexpr char kContainers[] =
    ", initContainers: [{name: first, image: x}], containers: [{name: main, image: x}]";
constexpr char kConfigurations[] =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
constexpr char kOthersConfiguration[] =
    R"({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",)"
    R"( "metadata": {"name": "others"}, "webhooks": [{"name": "others.example.com",)"
    R"( "sideEffects": "None", "admissionReviewVersions": ["v1"], "clientConfig":)"
    R"( {"url": "https://127.0.0.1:1/"}, "rules": [{"apiGroups": ["others.example.com"],)"
    R"( "apiVersions": ["v1"], "resources": ["things"], "operations": ["CREATE"]}]}]})";
constexpr char kAuthoritySecret[] =
    "{apiVersion: v1, kind: Secret, metadata: {name: berth-webhook-ca, namespace: berth-system}, "
    "type: kubernetes.io/tls, data: {tls.crt: '', tls.key: ''}}";

// A pod that is on n1 from its creation on.
std::string bound_pod(const std::string& ns, const std::string& name, const std::string& more = "",
                      const std::string& resources = "{}") {
  return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: " + ns + more +
         "}, spec: {nodeName: n1, automountServiceAccountToken: false, securityContext: "
         "{runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}, "
         "containers: [{name: main, image: x, securityContext: {allowPrivilegeEscalation: false, "
         "capabilities: {drop: [ALL]}}, resources: " +
         resources + "}]}}";
}

class ChartRights : public ChartTest {
 protected:
  void SetUp() override {
    ChartTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    add_nodes_and_pods();
    const Said installed = install({"nodeKeys={example.com/pool}", "webhook.enabled=true",
                                    "policy.proof.image=registry.example/cuda:12"});
    ASSERT_EQ(installed.code, 0) << installed.text;
    apply({});
    kube().apply(kPolicy);
    kube().apply(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: others}, value: "
        "1}");
    kube().apply(
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: others, namespace: team-a}, spec: "
        "{hard: {requests.nvidia.com/gpu: 100}}}");
    add_objects_of_berth();
    kube().send("POST", kConfigurations, kOthersConfiguration);
    kube().apply(kAuthoritySecret);
    kube().patch({"miglayouts", "inference-a100"}, PatchType::kMerge,
                 R"({"metadata": {"finalizers": ["example.com/other"]}})");
    wait_for_policies();
    steal("berth");
  }

  // The GPUQueue is real: the garbage collector deletes what a missing object owns.
  void add_objects_of_berth() {
    kube().apply(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: ours, labels: "
        "{app.kubernetes.io/managed-by: berth}}, value: 1}");
    kube().apply(
        "{apiVersion: gpu.berth.dev/v1alpha1, kind: GPUQueue, metadata: {name: nlp}, spec: "
        "{quotas: [{resource: nvidia.com/gpu, pool: '*', nominalQuota: 8}]}}");
    kube().apply(
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: berth-nlp, namespace: team-a, "
        "annotations: {gpu.berth.dev/owner: GPUQueue/nlp}, ownerReferences: [{apiVersion: "
        "gpu.berth.dev/v1alpha1, kind: GPUQueue, name: nlp, uid: " +
        kube().get({"gpuqueues", "nlp"}).uid() +
        "}]}, spec: {hard: {requests.nvidia.com/gpu: 100}}}");
    std::string proof = kProof;
    proof.replace(proof.find("berth-proof-y"), 13, "berth-proof-z");
    proof.insert(proof.find(R"("activeDeadlineSeconds")"), R"("suspend": true, )");
    kube().send("POST", kProofs, proof);
  }

  // A policy works a moment after it was made. What is not refused by then, the cases tell.
  void wait_for_policies() {
    const auto refused = [&](std::span<const Act> acts) {
      return std::ranges::all_of(acts, [&](const Act& act) { return send(act).status == 403; });
    };
    const auto until = std::chrono::steady_clock::now() + seconds(30);
    for (bool all = false; !all && std::chrono::steady_clock::now() < until;) {
      steal("berth");
      all = refused(confined_acts());
      steal("berth-certificates");
      all = all && refused(confined_keepers_acts());
    }
  }

  void TearDown() override {
    if (!IsSkipped()) {
      kube().send("DELETE", std::string(kConfigurations) + "/others");
      kube().send("DELETE", "/apis/apps/v1/namespaces/team-a/daemonsets/daemon");
      kube().send("DELETE", std::string(kProofs) + "/berth-proof-z");
      kube().send("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/ours");
      for (const char* pod :
           {"gpu-operator/pods/validator", "kube-system/pods/dns", "kube-system/pods/trainer",
            "kube-system/pods/claimer", "kube-public/pods/web", "kube-node-lease/pods/web",
            "berth-system/pods/reviews"})
        kube().send("DELETE", std::string("/api/v1/namespaces/") + pod + "?gracePeriodSeconds=0");
      kube().send("DELETE", "/api/v1/namespaces/berth-system/secrets/berth-webhook-ca");
    }
    ChartTest::TearDown();
  }

  // n1 has GPUs, one paused NVIDIA component and others that are not; n2 is a control plane node
  // with GPUs, `plain` one without.
  void add_nodes_and_pods() {
    cluster().add_gpu_node(
        {.name = "n1",
         .labels = {{"nvidia.com/gpu.deploy.device-plugin", "paused-for-mig-change"},
                    {"nvidia.com/gpu.deploy.dcgm-exporter", "false"},
                    {"nvidia.com/gpu.deploy.dcgm", "true"},
                    {"nvidia.com/gpu.deploy.mig-manager", "paused-for-mig-change"},
                    {"nvidia.com/mig.config.state", "success"}}});
    cluster().add_gpu_node({.name = "n2"});
    kube().patch({"nodes", "n2"}, PatchType::kMerge,
                 R"({"spec": {"taints": [{"key": "node-role.kubernetes.io/control-plane",)"
                 R"( "effect": "NoSchedule"}]}})");
    for (const char* node : {"name: plain}", "name: closed}, spec: {unschedulable: true}",
                             "name: by-product, labels: {nvidia.com/gpu.product: x}}",
                             "name: by-present, labels: {nvidia.com/gpu.present: 'true'}}",
                             "name: by-capacity}, status: {capacity: {nvidia.com/gpu: 8}}"})
      kube().apply("{apiVersion: v1, kind: Node, metadata: {" + std::string(node) + "}");
    const std::string gpu = "{limits: {nvidia.com/gpu: 1}}";
    kube().apply(bound_pod("team-a", "victim", "", gpu));
    kube().apply(bound_pod("team-a", "plain"));
    kube().apply(bound_pod("team-a", "mirror", ", annotations: {kubernetes.io/config.mirror: x}"));
    // A tenant may write another owner into a pod that its queue has released.
    const std::string let_go = ", annotations: {gpu.berth.dev/admitted: '{}'";
    const std::string of_daemon =
        "}, ownerReferences: [{apiVersion: x.example.com/v1, kind: DaemonSet, name: x, uid: x, "
        "controller: true}]";
    kube().apply(bound_pod("team-a", "claimed", let_go + of_daemon, gpu));
    kube().apply(bound_pod("team-a", "claims", let_go + of_daemon));
    kube().apply(
        bound_pod("team-a", "mirrored", let_go + ", kubernetes.io/config.mirror: x}", gpu));
    const auto owned_by = [](const std::string& kind, const char* controls) {
      return ", ownerReferences: [{apiVersion: x.example.com/v1, name: x, uid: x, kind: " + kind +
             ", controller: " + controls + "}]";
    };
    kube().apply(bound_pod("team-a", "unqueued", owned_by("DaemonSet", "true"), gpu));
    kube().apply(bound_pod("team-a", "of-set", owned_by("ReplicaSet", "true")));
    kube().apply(bound_pod("team-a", "owned", owned_by("DaemonSet", "false")));
    kube().apply(bound_pod("kube-public", "web"));
    kube().apply(bound_pod("kube-node-lease", "web"));
    std::string claimer = bound_pod("kube-system", "claimer");
    claimer.insert(claimer.find("nodeName"), "resourceClaims: [{name: g, resourceClaimName: g}], ");
    kube().apply(claimer);
    kube().apply(bound_pod("gpu-operator", "validator", "", gpu));
    kube().apply(bound_pod("kube-system", "dns"));
    kube().apply(bound_pod("kube-system", "trainer", "", gpu));
    kube().apply(bound_pod("berth-system", "reviews"));
    kube().apply(
        "{apiVersion: v1, kind: Pod, metadata: {name: gated, namespace: team-a}, spec: "
        "{schedulingGates: [{name: example.com/x}, {name: gpu.berth.dev/queue}], affinity: " +
        std::string(kOwn) + kContainers + "}}");
    kube().apply(
        "{apiVersion: v1, kind: Pod, metadata: {name: anywhere, namespace: team-a}, spec: "
        "{schedulingGates: [{name: gpu.berth.dev/queue}]" +
        std::string(kContainers) + "}}");
    kube().apply(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: waits, namespace: team-a, "
        "annotations: {example.com/a: x}}, spec: {suspend: true, template: {spec: {restartPolicy: "
        "Never, nodeSelector: {example.com/rack: x}, affinity: " +
        std::string(kOwn) + kContainers + "}}}}");
    cluster().add_bare_pod({.name = "waiting", .count = 64});  // no node has as many
    add_jobs_and_lost_pods();
    kube().apply(kDaemon);
    wait_until("the DaemonSet's pod", seconds(30), [&]() -> std::string {
      for (const Object& pod : cluster().pods_of("team-a", "daemon")) daemon_ = pod.name();
      return daemon_.empty() ? "not yet" : "";
    });
  }

  // Pods with a mark of the far future, or of the past, or none. All but one terminate, on a node
  // that does not end them.
  void add_jobs_and_lost_pods() {
    const std::string lingers = ", annotations: {test.berth.dev/linger: 'true'",
                      safe = ", gpu.berth.dev/safe-to-force-delete: 'true'",
                      mark = ", gpu.berth.dev/on-dead-node-since: '2100-01-01T00:00:00Z'",
                      old = ", gpu.berth.dev/on-dead-node-since: '2020-01-01T00:00:00Z'";
    const std::map<std::string, std::string> pods = {{"alive", safe + mark},
                                                     {"lost", safe + mark},
                                                     {"unasked", mark},
                                                     {"terminates", safe},
                                                     {"early", safe + old}};
    for (const auto& [name, more] : pods)
      kube().apply(bound_pod("team-a", name, lingers + more + "}"));
    wait_until("the pods to run", seconds(30), [&]() -> std::string {
      for (const auto& [name, more] : pods)
        if (kube().get({"pods", name, "team-a"}).text("/status/phase") != "Running") return name;
      return "";
    });
    for (const auto& [name, more] : pods)
      if (name != "alive") kube().send("DELETE", "/api/v1/namespaces/team-a/pods/" + name);
    for (const char* job : {"elsewhere, namespace: team-a}, spec: {podReplacementPolicy: Failed",
                            "queued, namespace: team-a, labels: {gpu.berth.dev/queue: vision}}, "
                            "spec: {podReplacementPolicy: Failed",
                            "replaces, namespace: team-a, labels: {gpu.berth.dev/queue: vision}}, "
                            "spec: {podReplacementPolicy: TerminatingOrFailed"})
      kube().apply("{apiVersion: batch/v1, kind: Job, metadata: {name: " + std::string(job) +
                   ", suspend: true, template: {spec: {restartPolicy: Never, containers: "
                   "[{name: main, image: x}]}}}}");
  }

  void steal(const std::string& name) { thief_ = std::make_unique<Kube>(account(name)); }

  Reply send(const Act& act) {
    std::string path = act.path;
    if (const auto at = path.find("DAEMON"); at != path.npos) path.replace(at, 6, daemon_);
    std::string body = act.body;
    if (const auto at = body.find("UID"); at != body.npos) body.replace(at, 3, uid_of_pod(path));
    const std::string method = act.method;
    const bool connects = path.find("stdout=true") != std::string::npos;
    // If a deletion has a body, the API server does not read the query.
    if (method == "DELETE" && !body.empty()) body.insert(1, R"("dryRun": ["All"], )");
    if (method != "GET" && !connects)
      path += path.find('?') == std::string::npos ? "?dryRun=All" : "&dryRun=All";
    const bool patches = method == "PATCH";
    const bool strategic = patches && (path.find("/pods/") != std::string::npos ||
                                       path.find("webhookconfigurations") != std::string::npos);
    return thief_->send(method, path, body,
                        strategic ? "application/strategic-merge-patch+json"
                        : patches ? "application/merge-patch+json"
                                  : "application/json");
  }
  std::string uid_of_pod(const std::string& path) {
    std::string pod = path;
    if (pod.ends_with("/eviction")) pod.resize(pod.rfind('/'));
    return kube().send("GET", pod).body.uid();
  }

  void expect_refused(std::span<const Act> acts) {
    for (const Act& act : acts) {
      SCOPED_TRACE(act.what);
      const Reply reply = send(act);
      EXPECT_EQ(reply.status, 403) << reply.body.dump();
      EXPECT_THAT(reply.body.text("/message"), HasSubstr(act.words));
    }
  }
  void expect_granted(std::span<const Act> acts) {
    for (const Act& act : acts) {
      SCOPED_TRACE(act.what);
      const Reply reply = send(act);
      EXPECT_TRUE(reply.ok()) << reply.status << " " << reply.body.text("/message");
    }
  }

  std::string daemon_;
  std::unique_ptr<Kube> thief_;
};

TEST_F(ChartRights, TheWebhooksTokenReadsAndNothingElse) {
  steal("berth-webhook");
  expect_refused(acts_beyond_the_webhook());
  for (const char* path :
       {"/api/v1/nodes", "/api/v1/namespaces", "/apis/scheduling.k8s.io/v1/priorityclasses",
        "/apis/gpu.berth.dev/v1alpha1/miglayouts",
        "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies"})
    EXPECT_EQ(thief_->send("GET", path).status, 200) << path;
}

TEST_F(ChartRights, WhatBerthLivesFromIsLetThrough) {
  expect_granted(granted_acts());
  steal("berth-certificates");
  expect_granted(granted_keepers_acts());
}

TEST_F(ChartRights, AStolenTokenIsRefusedWhateverElseItTries) {
  expect_refused(ungranted_acts());
  expect_refused(confined_acts());
  expect_refused(confined_proofs());
  const std::size_t acts = ungranted_acts().size() + confined_acts().size() +
                           acts_beyond_the_webhook().size() + acts_beyond_the_keeper().size() +
                           confined_keepers_acts().size();
  std::cout << acts << " acts are forbidden to the three accounts\n";
  EXPECT_GE(acts, 130u);
}

// Each policy names the account that it confines.
TEST_F(ChartRights, WhatBerthMayNotDoOthersMay) {
  thief_ = std::make_unique<Kube>(kube().credentials());
  expect_granted(confined_acts());
  expect_granted(confined_keepers_acts());
}

// By people: a Secret of another type, a configuration with a URL.
TEST_F(ChartRights, TheKeeperKeepsWhatOthersHaveSet) {
  constexpr char kSecret[] = "/api/v1/namespaces/berth-system/secrets/berth-webhook-tls";
  constexpr char kReviews[] =
      "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/berth-webhook";
  constexpr char kBundleOnly[] = "nothing of a webhook but caBundle";
  steal("berth-certificates");
  for (const char* type : {"example.com/x", "Opaque"}) {
    kube().send("DELETE", kSecret);
    kube().apply(
        "{apiVersion: v1, kind: Secret, metadata: {name: berth-webhook-tls, namespace: "
        "berth-system}, type: " +
        std::string(type) + "}");
    const Act renew[] = {
        {type, "PATCH", kSecret, R"({"data": {"tls.crt": ""}})", "of type kubernetes.io/tls only"}};
    if (type == std::string("Opaque"))
      expect_granted(renew);
    else
      expect_refused(renew);
  }
  kube().send("DELETE", kSecret);

  kube().send("PATCH", kReviews,
              R"({"webhooks": [{"name": "kinds.gpu.berth.dev", "clientConfig":)"
              R"( {"service": null, "url": "https://127.0.0.1:1/"}}]})",
              "application/strategic-merge-patch+json");
  const Act elsewhere[] = {{"send layouts to another server", "PATCH", kReviews,
                            R"({"webhooks": [{"name": "kinds.gpu.berth.dev", "clientConfig":)"
                            R"( {"url": "https://evil.example/"}}]})",
                            kBundleOnly}};
  expect_refused(elsewhere);
  // One webhook becomes as the other is.
  auto webhooks = nlohmann::json::parse(kube().send("GET", kReviews).body.dump())["webhooks"];
  const auto name = webhooks[1]["name"];
  webhooks[1] = webhooks[0];
  webhooks[1]["name"] = name;
  const Reply copied =
      thief_->send("PATCH", std::string(kReviews) + "?dryRun=All",
                   R"({"webhooks": )" + webhooks.dump() + "}", "application/merge-patch+json");
  EXPECT_EQ(copied.status, 403) << copied.body.dump();
  EXPECT_THAT(copied.body.text("/message"), HasSubstr(kBundleOnly));
}

TEST_F(ChartRights, TheKeepersTokenWritesTheBundleAndTwoSecrets) {
  steal("berth-certificates");
  expect_refused(acts_beyond_the_keeper());
  expect_refused(confined_keepers_acts());
}

TEST_F(ChartRights, ThePoliciesHoldEvenAnAdministrator) {
  kube().apply(kToAdmin);
  for (const char* name : {"berth", "berth-certificates"}) {
    steal(name);
    wait_until("the binding to count", seconds(20), [&]() -> std::string {
      const Reply reply = thief_->send("GET", "/api/v1/configmaps");
      return reply.ok() ? "" : reply.body.text("/message");
    });
  }
  expect_refused(confined_keepers_acts());
  expect_refused(confined_administrator_keepers_acts());
  steal("berth");
  expect_refused(confined_acts());
  expect_refused(confined_proofs());
  expect_refused(confined_administrators_acts());
  kube().remove({"clusterrolebindings", "mine"});
}

}  // namespace
}  // namespace berth::test
