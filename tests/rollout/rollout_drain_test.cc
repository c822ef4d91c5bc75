// SPDX-License-Identifier: Apache-2.0
// Pods in the way: budgets, Jobs, pods without a controller, pods that end by themselves.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/rollout/rollout.h"

namespace berth::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// n1 is the layout's; what leaves it has room on spare.
constexpr char kTwoNodes[] =
    "nodes: [{name: n1, labels: {tier: mig}}, {name: spare}]\nsettings: {abortBackoff: 1m}\n";

std::string with(const std::string& workloads, const std::string& objects = "") {
  return fmt::format("{}workloads: [{}]\nobjects: [{}]\n", kTwoNodes, workloads, objects);
}
std::string budget(const std::string& name, const std::string& app, int max_unavailable) {
  return fmt::format(
      "{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: {}, namespace: "
      "team-a}}, spec: {{maxUnavailable: {}, selector: {{matchLabels: {{app: {}}}}}}}}}",
      name, max_unavailable, app);
}
std::string job(const std::string& spec, int pods = 1) {
  return fmt::format(
      "{{apiVersion: batch/v1, kind: Job, metadata: {{name: train, namespace: team-a}}, spec: "
      "{{parallelism: {}, completions: {}, {}, template: {{metadata: {{labels: {{app: train}}}}, "
      "spec: {{restartPolicy: Never, containers: [{{name: main, image: i, resources: {{requests: "
      "{{nvidia.com/gpu: \"1\"}}, limits: {{nvidia.com/gpu: \"1\"}}}}}}], nodeSelector: "
      "{{kubernetes.io/hostname: n1}}, tolerations: [{{key: nvidia.com/gpu, operator: "
      "Exists}}]}}}}}}}}",
      pods, pods, spec);
}
std::string pod(const std::string& spec, const std::string& request = "nvidia.com/gpu") {
  return fmt::format(
      "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: team-a}}, spec: {{nodeName: "
      "n1, {}containers: [{{name: main, image: i, resources: {{requests: {{{}: \"1\"}}, limits: "
      "{{{}: \"1\"}}}}}}]}}}}",
      spec, request, request);
}

TEST(Drain, ANodeWhoseBudgetIsClosedWaitsUncordonedWithTheBudgetsName) {
  Rollout world(with(on_node("n1", "web", 1, "budget: {minAvailable: 1}")));
  world.apply_layout("small");
  world.run_for(minutes(5));
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting PodDisruptionBudget: "
                                                     "PodDisruptionBudget web"));
  EXPECT_THAT(world.condition("small", "Reconciling"),
              HasSubstr("PodDisruptionBudget: n1: PodDisruptionBudget web"));
  EXPECT_EQ(world.count_writes("evict "), 0) << "no eviction is spent on it";

  world.act("edit: pdb/team-a/web, patch: {spec: {minAvailable: 0}}");
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
}

TEST(Drain, ADrainThatCannotEndIsGivenUpAfterItsTimeoutWithBackoff) {
  Rollout world(with(on_node("n1", "train")));
  world.apply_layout("small",
                     "drain: {timeout: 1m, waitForCompletion: {timeout: 10m, podSelector: "
                     "{matchLabels: {app: train}}}}");
  ASSERT_TRUE(world.run_until_phase("n1", "Cordoned"));
  world.run_for(seconds(5));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Draining PodsLeaving"));
  world.run_for(minutes(9));
  EXPECT_TRUE(world.cordoned("n1")) << "drain.timeout does not hold for such a pod";
  ASSERT_TRUE(world.run_until([&] { return !world.cordoned("n1"); }, minutes(2)));
  world.run_for(seconds(30));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("BackingOff"));
  EXPECT_EQ(world.count_writes("evict "), 0);
  EXPECT_EQ(world.ledger(), "");

  world.act("delete: replicaset/team-a/train");
  EXPECT_TRUE(world.run_until_ready("small"));
}

TEST(Drain, APodThatIsWaitedForEndsByItselfOnTheCordonedNode) {
  Rollout world(with(on_node("n1", "train", 1, "kind: Job")));
  world.apply_layout("small",
                     "drain: {waitForCompletion: {timeout: 4h, podSelector: {matchLabels: {app: "
                     "train}}}}");
  world.run_for(minutes(10));
  EXPECT_EQ(world.phase("n1"), "Cordoned");
  world.act("finish-pod: team-a/train");
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.count_writes("evict "), 0);
}

TEST(Drain, TwoBudgetsOnOnePodAreToldApartAndNamed) {
  Rollout world(
      with(on_node("n1", "web"), budget("pdb-a", "web", 1) + ", " + budget("pdb-b", "web", 1)));
  world.apply_layout("small");
  world.run_for(minutes(2));
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_THAT(world.detail("small", "n1"),
              HasSubstr("Waiting PodDisruptionBudget: 2 PodDisruptionBudgets (pdb-a, pdb-b)"));
}

TEST(Drain, AnotherNodeGoesWhileOneCannotBeEmptied) {
  Rollout world(fmt::format("nodes: [{{count: 3, labels: {{tier: mig}}}}]\nworkloads: [{}, {}, {}]",
                            on_node("n1", "web-1", 1, "budget: {maxUnavailable: 0}"),
                            on_node("n2", "web-2"), on_node("n3", "web-3")));
  world.apply_layout("small", "capacityGuard: {retire: [nvidia.com/gpu]}");
  world.run_until([&] { return world.offered("n3", "mig-1g.10gb") == 28; });
  world.run_for(minutes(2));
  EXPECT_EQ(world.counts("small"),
            "selected 3 updated 2 inProgress 0 blocked 1 failed 0 pending 0");
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("PodDisruptionBudget"));
}

TEST(Drain, AJobWithoutRetriesIsWaitedForAndNotFailed) {
  Rollout world(with("", job("backoffLimit: 0")));
  world.apply_layout("small");
  world.run_for(minutes(3));
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting JobRunning: Job team-a/train"));
  world.act("finish-pod: team-a/train");
  EXPECT_TRUE(world.run_until_ready("small"));
}

TEST(Drain, PodsOfOneJobOnTheNodeCountTogether) {
  Rollout world(with("", job("backoffLimit: 1", 2)));
  world.apply_layout("small");
  world.run_for(minutes(3));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("it has 1 of 1 retries left for 2 pods"));
  world.act("finish-pod: team-a/train");
  EXPECT_TRUE(world.run_until_ready("small"));
}

TEST(Drain, AJobThatIgnoresDisruptionsIsEvictedAndNotFailed) {
  Rollout world(with("", job("backoffLimit: 0, podFailurePolicy: {rules: [{action: Ignore, "
                             "onPodConditions: [{type: DisruptionTarget, status: \"True\"}]}]}")));
  world.apply_layout("small");
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.count_writes("evict Pod/team-a/train"), 1);
  world.run_for(seconds(5));
  EXPECT_THAT(world.run().simulation().store().list(*sim::find_resource_type("pods"), "team-a"),
              SizeIs(1))
      << "it runs again where there is room";
}

struct Blocked {
  const char* sentence;
  const char* pod;
  const char* reason;
  const char* allow;
};

TEST(Drain, APodThatMayNotLeaveMakesItsNodeWaitUncordonedUntilItMay) {
  const Blocked cases[] = {
      {"a pod without a controller needs force", "", "UnmanagedPod", "drain: {force: true}"},
      {"an emptyDir needs deleteEmptyDirData", "volumes: [{name: v, emptyDir: {}}], ",
       "LocalStorage", "drain: {deleteEmptyDirData: true}"},
  };
  for (const Blocked& c : cases) {
    SCOPED_TRACE(c.sentence);
    Rollout world(with("", pod(c.pod)));
    const bool unmanaged = std::string_view(c.reason) == "UnmanagedPod";
    world.apply_layout("small", fmt::format("drain: {{force: {}, deleteEmptyDirData: false}}",
                                            unmanaged ? "false" : "true"));
    world.run_for(minutes(2));
    EXPECT_FALSE(world.cordoned("n1"));
    EXPECT_THAT(world.detail("small", "n1"), HasSubstr(std::string("Waiting ") + c.reason));
    world.edit_layout("small", c.allow);
    EXPECT_TRUE(world.run_until_ready("small"));
  }
}

TEST(Drain, UnderScopeAllPodsPodsWithoutGpusLeaveToo) {
  Rollout world(with(on_node("n1", "cpu", 0)));
  world.apply_layout("small", "drain: {scope: AllPods}");
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.count_writes("evict Pod/team-a/cpu"), 1);
}

TEST(Drain, ForceDeletesAfterTheTimeout) {
  Rollout world(with(on_node("n1", "web")));
  world.apply_layout("small",
                     "drain: {timeout: 1m, onTimeout: Force, gracePeriodSeconds: 1, "
                     "waitForCompletion: {timeout: 5m, podSelector: {matchLabels: {app: web}}}}");
  ASSERT_TRUE(world.run_until_phase("n1", "Cordoned"));
  world.run_for(minutes(5) - seconds(1));
  EXPECT_EQ(world.count_writes("delete Pod"), 0);
  EXPECT_TRUE(world.run_until_ready("small"));
  EXPECT_EQ(world.count_writes("delete Pod/team-a/web"), 1);
}

TEST(Drain, ABudgetThatClosesInMidDrainIsWaitedOutAndThenTheNodeIsPutBack) {
  Rollout world(with(on_node("n1", "web", 1, "budget: {minAvailable: 0}")));
  world.apply_layout("small", "drain: {timeout: 3m}");
  ASSERT_TRUE(world.run_until_phase("n1", "Cordoned"));
  world.act("edit: pdb/team-a/web, patch: {spec: {minAvailable: 1}}");
  world.run_for(minutes(2));
  EXPECT_EQ(world.phase("n1"), "Cordoned");
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Draining PodDisruptionBudget"));
  world.run_for(minutes(1) + seconds(30));
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_EQ(world.ledger(), "");
  EXPECT_EQ(world.count_writes("evict "), 0) << "the dry run before each eviction says no";
  world.act("edit: pdb/team-a/web, patch: {spec: {minAvailable: 0}}");
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
}

// berth-0 runs in a pod of that name. Here its eviction ends the pod and not the process.
std::string berths_own_pod(const std::string& node) {
  return fmt::format(
      "objects:\n- {{apiVersion: v1, kind: Namespace, metadata: {{name: berth-system}}}}\n"
      "- {{apiVersion: v1, kind: Pod, metadata: {{name: berth-0, namespace: berth-system}}, spec: "
      "{{nodeName: {}, containers: [{{name: main, image: i, resources: {{requests: {{cpu: "
      "\"1\"}}}}}}]}}}}\n",
      node);
}

TEST(OwnPod, OnTheOnlyNodeBlocksItAndNobodyIsCordoned) {
  Rollout world("nodes: [{count: 1, labels: {tier: mig}}]\n" + berths_own_pod("n1"));
  world.apply_layout("small", "drain: {scope: AllPods, force: true}");
  world.run_for(minutes(2));
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("OwnPod: pod berth-system/berth-0"));
  EXPECT_TRUE(world.exists("pods", "berth-0", "berth-system"));
}

TEST(OwnPod, WithRoomElsewhereLeavesAfterTheOthers) {
  Rollout world("nodes: [{count: 2, labels: {tier: mig}}]\n" + berths_own_pod("n1") +
                "workloads: [" + on_node("n1", "web") + "]");
  world.apply_layout("small", "drain: {scope: AllPods, force: true}, rollout: {order: Name}");
  ASSERT_TRUE(world.run_until_ready("small")) << world.details("small");
  EXPECT_FALSE(world.exists("pods", "berth-0", "berth-system"));
  EXPECT_FALSE(world.cordoned("n1"));
}

// What a person's pods must put up with, the cluster's own need not: past its budget the DNS stays,
// and the node is put back.
TEST(Drain, ForceTakesNoPodOfTheClustersOwnThatHoldsNoGpu) {
  for (const std::string ns : {"kube-system", "berth-system", "team-a"}) {
    SCOPED_TRACE(ns);
    Rollout world(with(fmt::format(
        "{{name: dns, namespace: {}, resource: cpu, nodeSelector: {{kubernetes.io/hostname: n1}}, "
        "toleratesGPU: true, budget: {{minAvailable: 0}}}}",
        ns)));
    world.apply_layout("small", "drain: {scope: AllPods, timeout: 3m, onTimeout: Force}");
    ASSERT_TRUE(world.run_until_phase("n1", "Cordoned"));
    world.act(fmt::format("edit: pdb/{}/dns, patch: {{spec: {{minAvailable: 1}}}}", ns));
    world.run_for(minutes(3) + seconds(30));
    const bool forced = ns == "team-a";
    EXPECT_EQ(world.count_writes("delete Pod"), forced ? 1 : 0);
    EXPECT_EQ(world.cordoned("n1"), forced) << "put back, or on its way";
  }
}

}  // namespace
}  // namespace berth::test
