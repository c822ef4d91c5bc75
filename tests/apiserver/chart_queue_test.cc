// SPDX-License-Identifier: Apache-2.0
// Only berth releases: what a user with `edit` in the namespace tries against queues without a
// webhook, judged only by the chart's policy; users with `release` pass. And a repeated sync of a
// GitOps tool changes nothing of admitted workloads.
#include <fmt/format.h>

#include "tests/apiserver/chart_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr char kPod[] = "/api/v1/namespaces/team-a/pods";
constexpr char kGated[] = "/api/v1/namespaces/team-a/pods/gated";
constexpr char kLost[] = "/api/v1/namespaces/team-a/pods/lost";
constexpr char kMember[] = "/api/v1/namespaces/team-a/pods/member";
constexpr char kStray[] = "/apis/batch/v1/namespaces/team-a/jobs/stray";
constexpr char kUnadmitted[] = "/apis/batch/v1/namespaces/team-a/jobs/unadmitted";
constexpr char kEndless[] = "/apis/batch/v1/namespaces/team-a/jobs/endless";
constexpr char kJobs[] = "/apis/batch/v1/namespaces/team-a/jobs";
constexpr char kWaits[] = "/apis/batch/v1/namespaces/team-a/jobs/waits";
constexpr char kRuns[] = "/apis/batch/v1/namespaces/team-a/jobs/runs";
constexpr char kMerge[] = "application/merge-patch+json";

constexpr char kWork[] = R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {name: vision}
spec:
  default: true
  namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [team-a]}]}
  quotas: [{resource: nvidia.com/gpu, pool: "*", nominalQuota: 8}]
  namespaceQuota: {enabled: true, maxPerPod: {nvidia.com/gpu: 2}}
---
apiVersion: v1
kind: Pod
metadata: {name: gated, namespace: team-a}
spec:
  schedulingGates: [{name: gpu.berth.dev/queue}]
  containers: [{name: main, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: lost, namespace: team-a, annotations: {gpu.berth.dev/on-dead-node-since: '2100-01-01T00:00:00Z'}}
spec: {containers: [{name: main, image: x}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: member
  namespace: team-a
  labels: {gpu.berth.dev/queue: vision}
  annotations: {gpu.berth.dev/admitted: '{}'}
spec: {nodeName: n1, containers: [{name: main, image: x}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: stray, namespace: team-a, annotations: {gpu.berth.dev/admitted: '{}'}}
spec:
  suspend: true
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: unadmitted, namespace: team-a, labels: {gpu.berth.dev/queue: vision}}
spec:
  parallelism: 0
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: endless
  namespace: team-a
  labels: {gpu.berth.dev/queue: vision}
  annotations: {gpu.berth.dev/admitted: '{}'}
spec:
  parallelism: 0
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: waits, namespace: team-a, labels: {gpu.berth.dev/queue: vision}}
spec:
  suspend: true
  podReplacementPolicy: Failed
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: runs
  namespace: team-a
  labels: {gpu.berth.dev/queue: vision}
  annotations: {gpu.berth.dev/admitted: '{}'}
spec:
  parallelism: 2
  activeDeadlineSeconds: 3600
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}
)";

class ChartQueue : public ChartTest {
 protected:
  void SetUp() override {
    ChartTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_node({.name = "n1"});
    const Said installed = install({});
    ASSERT_EQ(installed.code, 0) << installed.text;
    kube().patch({"namespaces", "team-a"}, PatchType::kMerge,
                 R"({"metadata": {"labels": {"gpu.berth.dev/managed": "true"}}})");
    // The server refuses pods until it can read the queues that limit them.
    wait_until("the work to be taken", seconds(30), [&]() -> std::string {
      kube().apply(kWork);
      return "";
    });
    tenant_ = std::make_unique<Kube>(person("tenant", "edit", "team-a"));
    rescuer_ = std::make_unique<Kube>(person("rescuer", "berth-release"));
    wait_until("the policy to count", seconds(30), [&]() -> std::string {
      const Reply reply = ask(*tenant_, "PATCH", kGated, R"({"spec": {"schedulingGates": null}})");
      return reply.status == 403 && reply.body.text("/message").find("gate") != std::string::npos
                 ? ""
                 : reply.body.dump();
    });
  }
  void TearDown() override {
    if (!IsSkipped()) {
      kube().patch({"namespaces", "team-a"}, PatchType::kMerge,
                   R"({"metadata": {"labels": {"gpu.berth.dev/managed": null}}})");
      for (const char* path :
           {kGated, kLost, kMember, kWaits, kRuns, kStray, kUnadmitted, kEndless})
        kube().send("DELETE", std::string(path) + "?propagationPolicy=Background");
    }
    ChartTest::TearDown();
  }
  // A dry run.
  static Reply ask(Kube& who, const std::string& method, const std::string& path,
                   const std::string& body) {
    return who.send(method, path + "?dryRun=All", body,
                    method == "PATCH" ? kMerge : "application/json");
  }
  void expect_refused(const char* what, const std::string& method, const std::string& path,
                      const std::string& body, const char* words) {
    SCOPED_TRACE(what);
    const Reply reply = ask(*tenant_, method, path, body);
    EXPECT_EQ(reply.status, 403) << reply.body.dump();
    EXPECT_THAT(reply.body.text("/message"), HasSubstr(words));
  }
  void expect_let(const char* what, Kube& who, const std::string& path, const std::string& body) {
    const Reply reply = ask(who, "PATCH", path, body);
    EXPECT_TRUE(reply.ok()) << what << ": " << reply.status << " " << reply.body.text("/message");
  }

  std::unique_ptr<Kube> tenant_, rescuer_;
};

constexpr char kForged[] =
    R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "forged", "annotations":)"
    R"( {"gpu.berth.dev/admitted": "{\"uid\":\"u\"}"}, "ownerReferences": [{"apiVersion": "batch/v1",)"
    R"( "kind": "Job", "name": "runs", "uid": "u", "controller": true}]}, "spec": {"containers":)"
    R"( [{"name": "main", "image": "x"}]}})";
constexpr char kBound[] =
    R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bound", "labels":)"
    R"( {"gpu.berth.dev/queue": "vision"}}, "spec": {"nodeName": "n1", "containers": [{"name": "main",)"
    R"( "image": "x"}]}})";
constexpr char kAdmittedJob[] =
    R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "forged"}, "spec": {"template":)"
    R"( {"metadata": {"annotations": {"gpu.berth.dev/admitted": "{}"}}, "spec": {"restartPolicy":)"
    R"( "Never", "containers": [{"name": "main", "image": "x"}]}}}})";

// Its pods would hold no quota while they terminate.
constexpr char kLostPod[] =
    R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "forged", "annotations":)"
    R"( {"gpu.berth.dev/on-dead-node-since": "2100-01-01T00:00:00Z"}}, "spec": {"containers":)"
    R"( [{"name": "main", "image": "x"}]}})";
constexpr char kLostJob[] =
    R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "forged"}, "spec": {"template":)"
    R"( {"metadata": {"annotations": {"gpu.berth.dev/on-dead-node-since": "2100-01-01T00:00:00Z"}},)"
    R"( "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}}}})";

constexpr char kPinned[] =
    R"({"metadata": {"annotations": {"gpu.berth.dev/admitted": "{\"uid\":\"u\",\"nodes\":[\"n1\"]}"}},)"
    R"( "spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":)"
    R"( {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values":)"
    R"( ["n1"]}]}]}}}}})";
constexpr char kPinnedJob[] =
    R"({"spec": {"template": {"spec": {"affinity": {"nodeAffinity":)"
    R"( {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields":)"
    R"( [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}}}}}}})";
constexpr char kRequires[] =
    R"({"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":)"
    R"( {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]}}}}})";

TEST_F(ChartQueue, AUserOpensNothingWhileTheWebhookIsAway) {
  const char* gate = R"({"spec": {"schedulingGates": null}})";
  const char* resume = R"({"spec": {"suspend": false}})";
  const char* grow = R"({"spec": {"parallelism": 3}})";
  const char* forge =
      R"({"metadata": {"annotations": {"gpu.berth.dev/admitted": "{\"uid\":\"x\"}"}}})";
  expect_refused("remove a gate", "PATCH", kGated, gate, "only berth takes the gate");
  expect_refused("resume a Job", "PATCH", kWaits, resume, "only the queue resumes the Job");
  expect_refused("have a Job run more", "PATCH", kRuns, grow, "may only fall");
  for (const char* longer : {R"({"spec": {"activeDeadlineSeconds": 3601}})",
                             R"({"spec": {"activeDeadlineSeconds": null}})"})
    expect_refused("have a Job run longer", "PATCH", kRuns, longer,
                   "activeDeadlineSeconds of an admitted Job may only fall");
  expect_refused(
      "resume a Job without its label", "PATCH", kWaits,
      R"({"metadata": {"labels": {"gpu.berth.dev/queue": null}}, "spec": {"suspend": false}})",
      "only the queue resumes the Job");
  for (const char* path : {kWaits, kRuns})
    expect_refused("take a Job's label away", "PATCH", path,
                   R"({"metadata": {"labels": {"gpu.berth.dev/queue": null}}})",
                   "keeps its label gpu.berth.dev/queue");
  for (const char* path : {kGated, kWaits, kRuns})
    expect_refused("forge an admission", "PATCH", path, forge, "only berth writes");
  expect_refused("take an admission away", "PATCH", kRuns,
                 R"({"metadata": {"annotations": {"gpu.berth.dev/admitted": null}}})",
                 "only berth writes");
  expect_refused("make an admitted pod", "POST", kPod, kForged, "only berth writes");
  expect_refused("make an admitted Job", "POST", kJobs, kAdmittedJob, "only berth writes");
  expect_refused("choose its node", "POST", kPod, kBound, "may not name its node");

  expect_refused("choose a gated pod's node in berth's place", "PATCH", kGated, kPinned,
                 "only berth writes");
  EXPECT_EQ(ask(*tenant_, "PATCH", kRuns, kPinnedJob).status, 422) << "where it runs is settled";

  expect_let("require nodes for a pod that waits", *tenant_, kGated, kRequires);
  expect_let("label its pod", *tenant_, kGated, R"({"metadata": {"labels": {"a": "b"}}})");
  expect_let("run fewer", *tenant_, kRuns, R"({"spec": {"parallelism": 1}})");
  expect_let("end earlier", *tenant_, kRuns, R"({"spec": {"activeDeadlineSeconds": 3599}})");
  expect_let("name another queue", *tenant_, kWaits,
             R"({"metadata": {"labels": {"gpu.berth.dev/queue": "other"}}})");
  expect_let("grow while it is suspended", *tenant_, kRuns,
             R"({"spec": {"suspend": true, "parallelism": 9}})");
  expect_let("suspend", *tenant_, kRuns, R"({"spec": {"suspend": true}})");
  Kube berth(account());
  expect_let("release it, by berth", berth, kGated, gate);

  // The namespace's queue allows a pod two GPUs: for running containers together, and for each init
  // container. It does not apply to other namespaces and to pods without GPUs.
  const auto asking = [](const std::string& labels, const std::string& containers) {
    return R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "asks", "labels": )" +
           labels + R"(}, "spec": )" + containers + "}";
  };
  const std::string two =
      R"({"name": "a", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 2}}})";
  const std::string one =
      R"({"name": "b", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 1}}})";
  const std::string named = R"({"gpu.berth.dev/queue": "vision"})";
  for (const std::string& labels : {named, std::string("{}")})
    expect_refused("ask for three", "POST", kPod,
                   asking(labels, R"({"containers": [)" + two + "," + one + "]}"),
                   "may ask for no more than its namespaceQuota.maxPerPod: nvidia.com/gpu 2");
  const auto make = [&](const std::string& labels, const std::string& spec) {
    return ask(*tenant_, "POST", kPod, asking(labels, spec));
  };
  EXPECT_TRUE(
      make(named, R"({"initContainers": [)" + one + R"(], "containers": [)" + two + "]}").ok());
  EXPECT_TRUE(make("{}", R"({"containers": [{"name": "a", "image": "x"}]})").ok());
  EXPECT_TRUE(
      make(R"({"gpu.berth.dev/queue": "other"})", R"({"containers": [)" + two + "," + one + "]}")
          .ok());

  expect_let("release a pod", *rescuer_, kGated, gate);
  expect_let("release a Job", *rescuer_, kWaits, resume);
}

// The policy refuses nothing beside what it is for.
TEST_F(ChartQueue, AUserMayDoTheRest) {
  constexpr char kLabel[] = R"({"metadata": {"labels": {"a": "b"}}})";
  constexpr char kNoQueue[] = R"({"metadata": {"labels": {"gpu.berth.dev/queue": null}}})";
  expect_let("label an admitted pod that runs", *tenant_, kMember, kLabel);
  expect_let("take an admitted pod's label", *tenant_, kMember, kNoQueue);
  expect_let("label a Job without a deadline", *tenant_, kEndless, kLabel);
  expect_let("have a Job stand in a group", *tenant_, kRuns,
             R"({"metadata": {"labels": {"gpu.berth.dev/pod-group": "x"}}})");
  expect_let("have a Job run more that nobody admitted", *tenant_, kUnadmitted,
             R"({"spec": {"parallelism": 1}})");
  expect_let("take the label of a Job that nobody admitted", *tenant_, kUnadmitted, kNoQueue);
  expect_let("label a Job of no queue", *tenant_, kStray, kLabel);
  expect_let("resume a Job of no queue, with more pods", *tenant_, kStray,
             R"({"spec": {"suspend": false, "parallelism": 2}})");
  expect_refused("resume it into a queue", "PATCH", kStray,
                 R"({"metadata": {"labels": {"gpu.berth.dev/queue": "vision"}},)"
                 R"( "spec": {"suspend": false}})",
                 "only the queue resumes the Job");
  const auto make = [&](const char* what, const char* path, const std::string& body) {
    const Reply reply = ask(*tenant_, "POST", path, body);
    EXPECT_TRUE(reply.ok()) << what << ": " << reply.status << " " << reply.body.text("/message");
  };
  for (const char* metadata : {R"("name": "p")", R"("name": "p", "labels": {"a": "b"})",
                               R"("name": "p", "annotations": {"a": "b"})"})
    make("name the node of a pod of no queue", kPod,
         fmt::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{{}}}, "spec":)"
                     R"( {{"nodeName": "n1", "containers": [{{"name": "c", "image": "x"}}]}}}})",
                     metadata));
  for (const char* labels : {"", R"(, "labels": {"gpu.berth.dev/queue": "vision"})"})
    make("make a Job", kJobs,
         fmt::format(R"({{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "j"{}}},)"
                     R"( "spec": {{"suspend": true, "podReplacementPolicy": "Failed", "template":)"
                     R"( {{"spec": {{"restartPolicy": "Never", "containers": [{{"name": "c",)"
                     R"( "image": "x"}}]}}}}}}}})",
                     labels));
}

// A Job's pods have its record, by the accounts by which the Jobs' controller asks.
TEST_F(ChartQueue, OnlyAJobsPodsInheritItsRecord) {
  constexpr char kOurs[] = "only berth writes gpu.berth.dev/admitted";
  const std::vector<std::string> users = {"system:serviceaccount:kube-system:job-controller",
                                          "system:kube-controller-manager"};
  for (const std::string& user : users)
    kube().apply(fmt::format(
        "{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {}, "
        "namespace: team-a}}, roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, "
        "name: edit}}, subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: "
        "'{}'}}]}}",
        user.substr(user.rfind(':') + 1), user));
  const auto metadata = [](const char* kind, const char* controls, const char* uid) {
    return fmt::format(
        R"("annotations": {{"gpu.berth.dev/admitted": "{{\"uid\":\"{}\"}}"}}, "ownerReferences":)"
        R"( [{{"apiVersion": "batch/v1", "kind": "{}", "name": "runs", "uid": "u",)"
        R"( "controller": {}}}])",
        uid, kind, controls);
  };
  const auto pod = [](const std::string& more) {
    return fmt::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "p", {}}},)"
                       R"( "spec": {{"containers": [{{"name": "c", "image": "x"}}]}}}})",
                       more);
  };
  for (const std::string& user : users) {
    Kube who(plane().credentials(user, {}));
    wait_until("the role of " + user, seconds(30), [&]() -> std::string {
      const Reply reply = ask(who, "POST", kPod, pod(metadata("Job", "true", "u")));
      return reply.ok() ? "" : reply.body.dump();
    });
    for (const std::string& more :
         {metadata("ReplicaSet", "true", "u"), metadata("Job", "false", "u"),
          metadata("Job", "true", "other"),
          std::string(R"("annotations": {"gpu.berth.dev/admitted": "{}"})")}) {
      const Reply reply = ask(who, "POST", kPod, pod(more));
      EXPECT_EQ(reply.status, 403) << more;
      EXPECT_THAT(reply.body.text("/message"), HasSubstr(kOurs)) << more;
    }
    const Reply later =
        ask(who, "PATCH", kGated, R"({"metadata": {)" + metadata("Job", "true", "u") + "}}");
    EXPECT_EQ(later.status, 403) << later.body.dump();
  }
}

// Queues that are the default elsewhere bound no pod of team-a.
TEST_F(ChartQueue, AQueueBoundsThePodsOfItsNamespaces) {
  constexpr char kHere[] = "matchExpressions: [{key: kubernetes.io/metadata.name, operator: ";
  constexpr char kTier[] = "matchExpressions: [{key: tier, operator: ";
  const auto expression = [](const char* key, const char* rest) {
    return fmt::format("default: true, namespaceSelector: {{{}{}}}]}}", key, rest);
  };
  const auto add = [](const std::string& name, const std::string& spec, const std::string& resource,
                      const char* enabled = "true") {
    kube().apply(fmt::format(
        "{{apiVersion: gpu.berth.dev/v1alpha1, kind: GPUQueue, metadata: {{name: {0}}}, spec: "
        "{{{1}, quotas: [{{resource: {2}, pool: '*', nominalQuota: 8}}], namespaceQuota: "
        "{{enabled: "
        "{3}, maxPerPod: {{{2}: 1}}}}}}}}",
        name, spec, resource, enabled));
  };
  const std::string gpu = "nvidia.com/gpu", slice = "nvidia.com/mig-1g.10gb",
                    half = "nvidia.com/mig-3g.40gb";
  add("of-a-tier", "default: true, namespaceSelector: {matchLabels: {tier: lab}}", gpu);
  add("of-no-tier", "default: true, namespaceSelector: {matchLabels: {tier: ''}}", gpu);
  add("of-another", expression(kHere, "In, values: [team-b]"), gpu);
  add("in-a-tier", expression(kTier, "In, values: [lab]"), gpu);
  add("not-of-team-a", expression(kHere, "NotIn, values: [team-a]"), gpu);
  add("with-a-tier", expression(kTier, "Exists"), gpu);
  add("without-a-name", expression(kHere, "DoesNotExist"), gpu);
  add("by-label", "namespaceSelector: {" + std::string(kHere) + "In, values: [team-a]}]}", gpu);
  add("switched-off", expression(kHere, "In, values: [team-a]"), gpu, "false");
  add("not-in-a-tier", expression(kTier, "NotIn, values: [lab]"), slice);
  add("not-of-team-b", expression(kHere, "NotIn, values: [team-b]"), half);
  const auto make = [&](const std::string& first, const std::string& then) {
    return ask(*tenant_, "POST", kPod,
               fmt::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "p"}},)"
                           R"( "spec": {{"initContainers": [{{"name": "i", "image": "x"{}}}],)"
                           R"( "containers": [{{"name": "c", "image": "x"{}}}]}}}})",
                           first, then));
  };
  const auto asks = [](const std::string& resource, int amount) {
    return fmt::format(R"(, "resources": {{"limits": {{"{}": {}}}}})", resource, amount);
  };
  for (const auto& [resource, queue] :
       {std::pair(slice, "not-in-a-tier"), std::pair(half, "not-of-team-b")})
    wait_until(std::string(queue) + " to bound", seconds(30), [&]() -> std::string {
      const std::string told = make("", asks(resource, 2)).body.text("/message");
      return told.find("a pod of queue " + std::string(queue) + " may") != told.npos ? "" : told;
    });
  EXPECT_TRUE(make("", asks(gpu, 2)).ok());
  EXPECT_EQ(make(asks(gpu, 3), "").status, 403) << "before it starts";
  for (const auto& queue : kube().list("gpuqueues"))
    if (queue.name() != "vision") kube().remove({"gpuqueues", queue.name()});
}

// By the mark berth takes a pod for lost on a dead node, so that it holds no quota.
TEST_F(ChartQueue, OnlyBerthMarksAPodAsLost) {
  constexpr char kOurs[] = "only berth writes gpu.berth.dev/on-dead-node-since";
  const auto mark = [](const char* value) {
    return fmt::format(
        R"({{"metadata": {{"annotations": {{"gpu.berth.dev/on-dead-node-since": {}}}}}}})", value);
  };
  const std::string forged = mark(R"("2100-01-01T00:00:00Z")"), gone = mark("null");
  expect_refused("mark a pod", "PATCH", kGated, forged, kOurs);
  expect_refused("mark a Job's pods", "PATCH", kWaits, R"({"spec": {"template": )" + forged + "}}",
                 kOurs);
  expect_refused("make a marked pod", "POST", kPod, kLostPod, kOurs);
  expect_refused("make a Job of marked pods", "POST", kJobs, kLostJob, kOurs);
  expect_refused("mark it at another time", "PATCH", kLost, mark(R"("2099-01-01T00:00:00Z")"),
                 kOurs);
  expect_refused("remove the mark", "PATCH", kLost, gone, kOurs);
  expect_let("label a marked pod", *tenant_, kLost, R"({"metadata": {"labels": {"a": "b"}}})");
  expect_let("ask to have it deleted by force", *tenant_, kLost,
             R"({"metadata": {"annotations": {"gpu.berth.dev/safe-to-force-delete": "true"}}})");
  expect_let("who may release", *rescuer_, kLost, gone);
}

// A kubelet's own pods name its node. The certificate needs the kubelet's user and its group.
TEST_F(ChartQueue, OnlyAKubeletNamesANode) {
  kube().apply(
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding,"
      " metadata: {name: nodes, namespace: team-a},"
      " roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit},"
      " subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: 'system:nodes'},"
      " {apiGroup: rbac.authorization.k8s.io, kind: User, name: 'system:node:n1'}]}");
  const auto status = [&](const std::string& user, const std::vector<std::string>& groups) {
    Kube who(plane().credentials(user, groups));
    return ask(who, "POST", kPod, kBound).status;
  };
  wait_until("the kubelet to have its role", seconds(30), [&]() -> std::string {
    return status("system:node:n1", {"system:nodes"}) == 201 ? "" : "not yet";
  });
  EXPECT_EQ(status("system:node:n1", {}), 403);
  EXPECT_EQ(status("mallory", {"system:nodes"}), 403);
}

}  // namespace
}  // namespace berth::test
