// SPDX-License-Identifier: Apache-2.0
// The chart's policies for spec.admission alone, while the webhook is down: they refuse pods and
// Jobs that no queue can count, such changes, and slow deletions.
#include <fmt/format.h>

#include "tests/apiserver/chart_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kPods[] = "/api/v1/namespaces/team-a/pods";
constexpr char kJobs[] = "/apis/batch/v1/namespaces/team-a/jobs";
constexpr char kAccounts[] = "/api/v1/namespaces/kube-system/serviceaccounts";
constexpr char kPolicies[] = "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies/cluster";
constexpr char kMerge[] = "application/merge-patch+json";
constexpr char kClaim[] = R"("resourceClaims": [{"name": "g", "resourceClaimName": "g"}])";
constexpr char kByClass[] = "deviceclass.resource.kubernetes.io/gpu.nvidia.com";

std::string container(const std::string& resource, const std::string& amount) {
  return fmt::format(R"({{"name": "c", "image": "x", "resources": {{"limits": {{"{}": "{}"}}}}}})",
                     resource, amount);
}

// "metadata" and "spec" are merged into the pod's own.
std::string pod_of(const std::string& metadata, const std::string& spec,
                   const std::string& containers = R"({"name": "c", "image": "x"})") {
  return fmt::format(
      R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "p"{}}}, "spec":)"
      R"( {{"containers": [{}]{}}}}})",
      metadata.empty() ? "" : "," + metadata, containers, spec.empty() ? "" : "," + spec);
}

constexpr char kOfQueue[] = R"("labels": {"gpu.berth.dev/queue": "vision"})";

std::string job_of(const std::string& metadata, const std::string& spec,
                   const std::string& pod = "",
                   const std::string& containers = R"({"name": "c", "image": "x"})") {
  return fmt::format(
      R"({{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "j"{}}}, "spec":)"
      R"( {{{}"template": {{"spec": {{"restartPolicy": "Never", "containers": [{}]{}}}}}}}}})",
      metadata.empty() ? "" : "," + metadata, spec.empty() ? "" : spec + ",", containers,
      pod.empty() ? "" : "," + pod);
}

std::string owned_by(const char* kind) {
  return fmt::format(
      R"("ownerReferences": [{{"apiVersion": "x.example.com/v1", "kind": "{}", "name": "o",)"
      R"( "uid": "u", "controller": true}}])",
      kind);
}

class ChartAdmission : public ChartTest {
 protected:
  void SetUp() override {
    ChartTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_node({.name = "n1"});
    const Said installed = install({});
    ASSERT_EQ(installed.code, 0) << installed.text;
    kube().patch({"namespaces", "team-a"}, PatchType::kMerge,
                 R"({"metadata": {"labels": {"gpu.berth.dev/managed": "true"}}})");
    tenant_ = std::make_unique<Kube>(person("tenant", "edit", "team-a"));
    // The API server applies policies a moment after their creation, and refuses everything until
    // it can read their parameters.
    const std::string forged = pod_of(R"("annotations": {"gpu.berth.dev/admitted": "{}"})", "");
    wait_until("the policies to count", seconds(30), [&]() -> std::string {
      const Reply refused = makes_pod(forged), let = makes_pod(pod_of("", ""));
      return refused.status == 403 && let.ok() ? "" : refused.body.dump() + let.body.dump();
    });
  }
  void TearDown() override {
    if (!IsSkipped()) {
      kube().patch({"namespaces", "team-a"}, PatchType::kMerge,
                   R"({"metadata": {"labels": {"gpu.berth.dev/managed": null}}})");
      kube().send("DELETE", kPolicies);
      kube().send("DELETE", std::string(kJobs) + "?propagationPolicy=Background");
      for (const char* name : {"fast", "slow"})
        kube().send("DELETE", std::string(kPods) + "/" + name + "?gracePeriodSeconds=0");
    }
    ChartTest::TearDown();
  }
  // A dry run.
  static Reply ask(Kube& who, const std::string& method, const std::string& path,
                   const std::string& body) {
    return who.send(method, path + "?dryRun=All", body,
                    method == "PATCH" ? "application/merge-patch+json" : "application/json");
  }
  static void expect_refused(const char* what, const Reply& reply, const char* words) {
    EXPECT_EQ(reply.status, 403) << what << ": " << reply.body.dump();
    EXPECT_THAT(reply.body.text("/message"), HasSubstr(words)) << what;
  }
  static void expect_let(const char* what, const Reply& reply) {
    EXPECT_TRUE(reply.ok()) << what << ": " << reply.status << " " << reply.body.text("/message");
  }
  Reply makes_pod(const std::string& pod) { return ask(*tenant_, "POST", kPods, pod); }
  Reply makes_job(const std::string& job) { return ask(*tenant_, "POST", kJobs, job); }
  Reply changes_job(const std::string& name, const std::string& patch) {
    return ask(*tenant_, "PATCH", std::string(kJobs) + "/" + name, patch);
  }
  // A Job that the tenant has created before the policy.
  void make_job(const std::string& name, std::string job) {
    job.replace(job.find(R"("name": "j")"), 11, fmt::format(R"("name": "{}")", name));
    const Reply made = tenant_->send("POST", kJobs, job);
    ASSERT_TRUE(made.ok()) << made.body.dump();
  }
  // Waits until the API server applies it: a pod with a claim is refused, or is allowed.
  void set_policy(const std::string& admission, bool refuses) {
    kube().apply(
        fmt::format("{{apiVersion: gpu.berth.dev/v1alpha1, kind: GPUClusterPolicy,"
                    " metadata: {{name: cluster}}, spec: {{admission: {{{}}}}}}}",
                    admission));
    wait_until("the policy to count", seconds(30), [&]() -> std::string {
      const Reply reply = makes_pod(pod_of("", kClaim));
      return (reply.status == 403) == refuses ? "" : reply.body.dump();
    });
  }
  // A pod on n1 with this grace period in seconds.
  void run_pod(const std::string& name, int grace) {
    const std::string spec =
        fmt::format(R"("nodeName": "n1", "terminationGracePeriodSeconds": {})", grace);
    std::string pod = pod_of("", spec);
    pod.replace(pod.find(R"("name": "p")"), 11, fmt::format(R"("name": "{}")", name));
    const Reply made = tenant_->send("POST", kPods, pod);
    ASSERT_TRUE(made.ok()) << made.body.dump();
  }
  Reply removes(Kube& who, const std::string& name, const std::string& query) {
    return who.send("DELETE", std::string(kPods) + "/" + name + "?dryRun=All" + query);
  }
  Reply evicts(Kube& who, const std::string& name, int grace) {
    return ask(who, "POST", std::string(kPods) + "/" + name + "/eviction",
               fmt::format(R"({{"apiVersion": "policy/v1", "kind": "Eviction", "metadata":)"
                           R"( {{"name": "{}"}}, "deleteOptions": {{"gracePeriodSeconds": {}}}}})",
                           name, grace));
  }

  std::unique_ptr<Kube> tenant_;
};

TEST_F(ChartAdmission, DevicesThatNoQueueCountsAreRefused) {
  constexpr char kNo[] = "no queue counts the devices";
  expect_let("without a policy", makes_pod(pod_of("", kClaim)));
  make_job("before", job_of(kOfQueue, R"("suspend": true)", kClaim));
  set_policy("", true);
  expect_refused("claim", makes_pod(pod_of("", kClaim)), kNo);
  expect_refused("by its class", makes_pod(pod_of("", "", container(kByClass, "1"))), kNo);
  expect_refused("before it starts",
                 makes_pod(pod_of("", R"("initContainers": [)" + container(kByClass, "1") + "]",
                                  R"({"name": "d", "image": "x"})")),
                 kNo);
  expect_refused("by a Job", makes_job(job_of("", "", kClaim)), kNo);
  expect_refused("by a Job and its class", makes_job(job_of("", "", "", container(kByClass, "1"))),
                 kNo);
  expect_let("none", makes_pod(pod_of("", "", container(kByClass, "0"))));
  expect_let("a Job that was there",
             changes_job("before", R"({"metadata": {"labels": {"a": "b"}}})"));
  expect_let("who may release", ask(kube(), "POST", kPods, pod_of("", kClaim)));
  set_policy("resourceClaims: Allow", false);
  set_policy("", true);
  set_policy("enforcement: Warn", false);
}

TEST_F(ChartAdmission, JobsOfAQueueReplaceNoPodEarlyAndKeepNoneForLong) {
  constexpr char kEarly[] = "write spec.podReplacementPolicy: Failed";
  constexpr char kSlow[] = R"("terminationGracePeriodSeconds": 3601)";
  make_job("early", job_of(kOfQueue, R"("suspend": true)", kSlow));
  make_job("late", job_of(kOfQueue, R"("suspend": true, "podReplacementPolicy": "Failed")"));
  set_policy("", true);
  const auto of_queue = [](const std::string& more) { return std::string(kOfQueue) + more; };
  expect_refused("at once", makes_job(job_of(kOfQueue, "")), kEarly);
  expect_refused("of a CronJob", makes_job(job_of(of_queue("," + owned_by("CronJob")), "")),
                 kEarly);
  expect_refused(
      "from now on",
      changes_job("late", R"({"spec": {"podReplacementPolicy": "TerminatingOrFailed"}})"), kEarly);
  expect_let("later", makes_job(job_of(kOfQueue, R"("podReplacementPolicy": "Failed")")));
  expect_let("in no queue", makes_job(job_of("", "")));
  expect_let("its pods wait one by one", makes_job(job_of(of_queue("," + owned_by("JobSet")), "")));
  expect_let("as it was", changes_job("early", R"({"metadata": {"labels": {"a": "b"}}})"));

  // A pod of it can't leave a dead node.
  Kube berth(account());
  const Reply replaces =
      berth.send("PATCH", std::string(kJobs) + "/late",
                 R"({"spec": {"podReplacementPolicy": "TerminatingOrFailed"}})", kMerge);
  expect_let("by berth", replaces);
  expect_let("as berth left it", changes_job("late", R"({"metadata": {"labels": {"a": "b"}}})"));

  const std::string gated =
      std::string(kSlow) + R"(, "schedulingGates": [{"name": "gpu.berth.dev/queue"}])";
  expect_refused("by its label", makes_pod(pod_of(kOfQueue, kSlow)), "at most 3600");
  expect_refused("by its gate", makes_pod(pod_of("", gated)), "at most 3600");
  expect_refused("by its Job",
                 makes_job(job_of(kOfQueue, R"("podReplacementPolicy": "Failed")", kSlow)),
                 "at most 3600");
  expect_let("an hour", makes_pod(pod_of(kOfQueue, R"("terminationGracePeriodSeconds": 3600)")));
  expect_let("in no queue", makes_pod(pod_of("", kSlow)));
  set_policy("podReplacementPolicy: Any, maxTerminationGracePeriod: 2h, resourceClaims: Allow",
             false);
  expect_let("as the policy says", makes_job(job_of(kOfQueue, "", kSlow)));
  expect_refused("longer", makes_pod(pod_of(kOfQueue, R"("terminationGracePeriodSeconds": 7201)")),
                 "at most 7200");
}

// The API server deletes an unscheduled pod at once, whatever the request says.
TEST_F(ChartAdmission, NobodyKeepsAPodByDeletingItSlowly) {
  run_pod("fast", 30), run_pod("slow", 7200);
  expect_let("without a policy", removes(*tenant_, "fast", "&gracePeriodSeconds=3601"));
  set_policy("", true);
  // The API server may load this policy later than the one that refuses claims.
  wait_until("deletions to be judged", seconds(30), [&]() -> std::string {
    const Reply reply = removes(*tenant_, "fast", "&gracePeriodSeconds=3601");
    return reply.status == 403 ? "" : reply.body.dump();
  });
  expect_refused("delete", removes(*tenant_, "fast", "&gracePeriodSeconds=3601"),
                 "a grace period of at most 3600 s");
  expect_let("an hour", removes(*tenant_, "fast", "&gracePeriodSeconds=3600"));
  expect_let("by its own, which was judged before", removes(*tenant_, "slow", ""));
  expect_refused("evict", evicts(*tenant_, "fast", 3601), "a grace period of at most 3600 s");
  expect_let("evict in an hour", evicts(*tenant_, "fast", 3600));
  expect_let("who may release", removes(kube(), "fast", "&gracePeriodSeconds=3601"));
  set_policy("maxTerminationGracePeriod: 2h, resourceClaims: Allow", false);
  expect_let("as the policy says", removes(*tenant_, "fast", "&gracePeriodSeconds=7200"));
  expect_refused("longer", removes(*tenant_, "fast", "&gracePeriodSeconds=7201"),
                 "a grace period of at most 7200 s");
  set_policy("", true);
  set_policy("enforcement: Warn", false);
  expect_let("it only warns", removes(*tenant_, "fast", "&gracePeriodSeconds=7201"));
}

// The numbers in the status are those that berth writes.
TEST_F(ChartAdmission, ThePolicyAndQueuesWithWorkAreDeletedOnceThatIsConfirmed) {
  constexpr char kQueue[] = "/apis/gpu.berth.dev/v1alpha1/gpuqueues/vision";
  const auto deletes = [](const char* path) {
    return kube().send("DELETE", std::string(path) + "?dryRun=All");
  };
  const auto counts = [](const char* path, const std::string& totals) {
    const Reply reply = kube().send("PATCH", std::string(path) + "/status",
                                    R"({"status": {"totals": )" + totals + "}}", kMerge);
    ASSERT_TRUE(reply.ok()) << reply.body.dump();
  };
  const auto confirms = [](const char* path, const std::string& name) {
    const std::string key = R"({"metadata": {"annotations": {"gpu.berth.dev/confirm-deletion": ")";
    kube().send("PATCH", path, key + name + "\"}}}", kMerge);
  };
  kube().apply(
      "{apiVersion: gpu.berth.dev/v1alpha1, kind: GPUClusterPolicy, metadata: {name: cluster},"
      " spec: {pools: [{name: lab, nodeSelector: {matchLabels: {tier: lab}}}]}}");
  kube().apply(
      "{apiVersion: gpu.berth.dev/v1alpha1, kind: GPUQueue, metadata: {name: vision},"
      " spec: {quotas: [{resource: nvidia.com/gpu, pool: '*', nominalQuota: 8}]}}");
  expect_let("a policy without nodes", deletes(kPolicies));
  expect_let("a queue without workloads", deletes(kQueue));

  counts(kPolicies, R"({"pools": 1, "nodes": 6, "gpus": 24, "allocated": 14})");
  const Reply refused = deletes(kPolicies);
  expect_refused("the policy", refused, "6 nodes are in its pools, and pods hold 14 of their GPUs");
  EXPECT_THAT(refused.body.text("/message"),
              AllOf(HasSubstr("under deletionPolicy Retain they stay as they are"),
                    HasSubstr("kubectl annotate gpuclusterpolicies cluster "
                              "gpu.berth.dev/confirm-deletion=cluster")));
  kube().send("PATCH", kPolicies, R"({"spec": {"deletionPolicy": "Remove"}})", kMerge);
  expect_refused("under Remove", deletes(kPolicies),
                 "deletionPolicy Remove takes labels, taints and sharing from them");
  confirms(kPolicies, "true");
  expect_refused("by another word", deletes(kPolicies), "6 nodes");
  confirms(kPolicies, "cluster");
  expect_let("confirmed", deletes(kPolicies));

  for (const char* totals :
       {R"({"admitted": 3, "pending": 0})", R"({"admitted": 0, "pending": 2})"}) {
    counts(kQueue, totals);
    expect_refused(totals, deletes(kQueue), "berth release --all");
  }
  expect_refused("what waits", deletes(kQueue), "2 workloads wait in it, and 0 are admitted");
  confirms(kQueue, "vision");
  expect_let("confirmed", deletes(kQueue));
  kube().send("DELETE", kQueue);
}

// With the accounts of the DaemonSet controller.
TEST_F(ChartAdmission, ADaemonSetGetsGpusOnlyIfThePolicyAllowsIt) {
  constexpr char kNo[] = "may not ask for GPUs here";
  const std::string account = "daemon-set-controller";
  kube().send("POST", kAccounts,
              R"({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ")" + account +
                  "\"}}");
  const Reply token = kube().send(
      "POST", std::string(kAccounts) + "/" + account + "/token",
      R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})");
  ASSERT_TRUE(token.ok()) << token.body.dump();
  const Credentials own = kube().credentials();
  Kube controller({own.server, own.authority_pem, "", "", token.body.text("/status/token")});
  kube().apply(
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding,"
      " metadata: {name: manager, namespace: team-a},"
      " roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit},"
      " subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User,"
      " name: 'system:kube-controller-manager'}]}");
  Kube manager(plane().credentials("system:kube-controller-manager", {}));
  set_policy("", true);
  const auto daemon = [](const std::string& containers, const std::string& spec = "") {
    return pod_of(owned_by("DaemonSet"), spec, containers);
  };
  const std::string gpu = container("nvidia.com/gpu", "1"),
                    plain = R"({"name": "d", "image": "x"})";
  const auto makes = [](Kube& who, const std::string& pod) { return ask(who, "POST", kPods, pod); };
  expect_refused("a GPU", makes(controller, daemon(gpu)), kNo);
  expect_refused("a slice", makes(controller, daemon(container("nvidia.com/mig-1g.5gb", "1"))),
                 kNo);
  expect_refused("before it starts",
                 makes(controller, daemon(plain, R"("initContainers": [)" + gpu + "]")), kNo);
  expect_refused("under its other name", makes(manager, daemon(gpu)), kNo);
  expect_let("no GPU", makes(controller, daemon(container("nvidia.com/gpu", "0"))));
  expect_let("who claims to be one is judged as any pod", makes(*tenant_, daemon(gpu)));
  expect_let("of another kind", makes(manager, pod_of(owned_by("ReplicaSet"), "", gpu)));
  set_policy("daemonSets: Allow, resourceClaims: Allow", false);
  expect_let("as the policy says", makes(controller, daemon(gpu)));
  kube().send("DELETE", std::string(kAccounts) + "/" + account);
}

}  // namespace
}  // namespace berth::test
