// SPDX-License-Identifier: Apache-2.0
// A rollout under a full queue on the real control plane: Jobs are requeued whole and run again,
// and none has failed.
#include <fmt/format.h>

#include "tests/apiserver/queue_fixture.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;

class QueueRollout : public QueueTest {
 protected:
  // A suspended Job of two pods with two GPUs each.
  void submit_pair(const std::string& name, int backoff_limit) {
    kube().apply(fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{namespace: team-a, name: {0}}}
spec:
  suspend: true
  parallelism: 2
  completions: 2
  backoffLimit: {1}
  template:
    metadata: {{labels: {{app: {0}}}}}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers: [{{name: main, image: example.com/train, resources: {{limits: {{nvidia.com/gpu: 2}}}}}}]
)",
                             name, backoff_limit));
  }
  // A gang of two, which its Deployment re-creates.
  void make_ring() {
    kube().apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: team-a, name: ring}
spec:
  replicas: 2
  selector: {matchLabels: {app: ring}}
  template:
    metadata: {labels: {app: ring, gpu.berth.dev/pod-group: ring}, annotations: {gpu.berth.dev/pod-group-size: "2"}}
    spec:
      terminationGracePeriodSeconds: 1
      schedulingGates: [{name: gpu.berth.dev/queue}]
      containers: [{name: main, image: example.com/train, resources: {limits: {nvidia.com/gpu: 2}}}]
)");
  }
  // One GPU of each node is partitioned, the others stay whole.
  Layout cut_one() {
    Layout layout;
    layout.devices =
        "  - {gpus: [0], profiles: {1g.10gb: 7}}\n"
        "  - {gpus: [1, 2, 3, 4, 5, 6, 7], profiles: {}}\n";
    layout.guard = {"protectLastProvider: true"};
    return layout;
  }
  int running(const std::string& app) {
    int count = 0;
    for (const Object& pod : cluster().pods_of("team-a", app))
      if (pod.text("/status/phase") == "Running" && !pod.has("/metadata/deletionTimestamp"))
        ++count;
    return count;
  }
  void wait_running(const std::vector<std::string>& apps) {
    for (const std::string& app : apps)
      wait_for(app + " to run", 90, [&]() -> std::string {
        return running(app) == 2 ? "" : queue("vision").at("/status").dump();
      });
  }
  Object job(const std::string& name) { return kube().get({"jobs", name, "team-a"}); }
};

TEST_F(QueueRollout, JobsOfAFullQueueGoBackIntoItWholeAndRunAgain) {
  add_pool(3);
  apply_queue("vision", "team-a", 12);
  start_berth();
  submit_pair("a", 0), submit_pair("b", 6);
  make_ring();
  wait_used("vision", "12/12");
  wait_running({"a", "b", "ring"});
  submit_pair("c", 0);
  wait_reasons("vision", "WaitingForQuota 1");

  apply(cut_one());
  wait_ready("inference-a100", 240);

  // Whichever Job ran meanwhile, the requeued ones run again once there is quota.
  kube().patch({"jobs", "c", "team-a"}, PatchType::kMerge, R"({"spec": {"parallelism": 0}})");
  wait_running({"a", "b", "ring"});
  wait_nothing_in_flight();
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(job(name).number("/status/failed"), 0) << name;
    EXPECT_EQ(job(name).condition("Failed"), "") << name;
  }
  int taken_back = 0;
  for (const AuditEvent& event : writes()) {
    if (event.subresource == "eviction") {
      EXPECT_THAT(event.name, HasSubstr("ring-"));
    }
    if (event.resource == "jobs" && event.request.truth("/spec/suspend")) ++taken_back;
  }
  EXPECT_GE(taken_back, 1);
}

// A suspension ignores budgets, so berth checks them before.
TEST_F(QueueRollout, ABudgetThatKeepsAJobKeepsItsNodeInService) {
  add_pool(2);
  apply_queue("vision", "team-a", 4);
  start_berth();
  submit_pair("a", 0);
  wait_running({"a"});
  kube().apply(R"(
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {namespace: team-a, name: kept}
spec: {minAvailable: 1, selector: {matchLabels: {app: a}}}
)");
  wait_for("the budget to be counted", 30, [&]() -> std::string {
    const Object kept = kube().get({"poddisruptionbudgets", "kept", "team-a"});
    return kept.number("/status/currentHealthy") == 2 ? "" : kept.dump();
  });
  const std::string node = cluster().pods_of("team-a", "a").at(0).text("/spec/nodeName");
  apply(cut_one());
  wait_reason(node, "PodDisruptionBudget");
  EXPECT_THAT(detail(node), HasSubstr("kept keeps 1 pod healthy"));
  EXPECT_FALSE(cordoned(node));
  EXPECT_FALSE(job("a").truth("/spec/suspend"));

  kube().remove({"poddisruptionbudgets", "kept", "team-a"});
  wait_ready("inference-a100", 180);
  wait_running({"a"});
  EXPECT_EQ(job("a").number("/status/failed"), 0);
}

}  // namespace
}  // namespace berth::test
