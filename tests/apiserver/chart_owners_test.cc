// SPDX-License-Identifier: Apache-2.0
// Pods of a framework's job on a real API server, with the chart's rights: a drained queue evicts
// pods whose job re-creates them. It leaves pods whose job would fail, or whose job berth may not
// read.
#include <fmt/format.h>

#include "tests/apiserver/chart_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;

constexpr char kTFJobCrd[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tfjobs.kubeflow.org}
spec:
  group: kubeflow.org
  scope: Namespaced
  names: {plural: tfjobs, singular: tfjob, kind: TFJob, listKind: TFJobList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";
constexpr char kQueue[] = R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {name: vision}
spec:
  default: true
  namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [team-a]}]}
  quotas: [{resource: nvidia.com/gpu, pool: "*", nominalQuota: 8}]
)";

class ChartOwners : public ChartTest {
 protected:
  void SetUp() override {
    ChartTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_node({.name = "n1"});
    const Said installed = install({});
    ASSERT_EQ(installed.code, 0) << installed.text;
    kube().apply(kTFJobCrd);
    wait_until("TFJobs to be served", seconds(30), [&]() -> std::string {
      kube().list("tfjobs", "team-a");
      return "";
    });
    kube().apply(kQueue);
    start_berth_as_account();
    make("fails", "{}");
    make("again", "{restartPolicy: OnFailure}");
    for (const char* name : {"fails", "again"})
      wait_for(std::string(name) + " to run", 60, [&]() -> std::string {
        const Object pod = kube().get({"pods", name, "team-a"});
        return pod.text("/status/phase") == "Running" ? "" : pod.dump();
      });
  }
  void TearDown() override {
    if (!IsSkipped()) {
      stop_berth();
      for (const char* name : {"fails", "again"})
        kube().remove({"pods", name, "team-a"}, R"({"gracePeriodSeconds": 0})");
      kube().remove({"customresourcedefinitions", "tfjobs.kubeflow.org"});
    }
    ChartTest::TearDown();
  }
  // A TFJob with this Worker, and its pod, which waits at berth's gate. No training operator runs
  // here.
  void make(const std::string& name, const std::string& worker) {
    const std::string uid =
        kube()
            .apply(fmt::format("{{apiVersion: kubeflow.org/v1, kind: TFJob, metadata: {{name: {}, "
                               "namespace: team-a}}, spec: {{tfReplicaSpecs: {{Worker: {}}}}}}}",
                               name, worker))
            .front()
            .text("/metadata/uid");
    kube().apply(fmt::format(R"(
apiVersion: v1
kind: Pod
metadata:
  name: {0}
  namespace: team-a
  labels: {{training.kubeflow.org/replica-type: worker}}
  ownerReferences: [{{apiVersion: kubeflow.org/v1, kind: TFJob, name: {0}, uid: {1}, controller: true}}]
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  schedulingGates: [{{name: gpu.berth.dev/queue}}]
  containers: [{{name: main, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]
)",
                             name, uid));
  }
  void drain_queue() {
    kube().patch({"gpuqueues", "vision"}, PatchType::kMerge,
                 R"({"spec": {"stopPolicy": "HoldAndDrain"}})");
  }
  bool is_leaving(const std::string& pod) {
    const auto found = kube().find({"pods", pod, "team-a"});
    return !found || found->has("/metadata/deletionTimestamp");
  }
  void wait_told(const std::string& pod, const std::string& words) {
    wait_for("an event that says why " + pod + " stays", 60, [&]() -> std::string {
      std::string told;
      const Reply events = kube().send("GET", "/apis/events.k8s.io/v1/namespaces/team-a/events");
      for (const Object& event : events.body.items()) {
        if (event.text("/regarding/name") != pod || event.text("/reason") != "PodKept") continue;
        told += event.text("/note") + "\n";
      }
      return told.find(words) != std::string::npos ? "" : "told: " + told;
    });
  }
};

TEST_F(ChartOwners, ADrainedQueueEvictsWhatIsCreatedAgainAndKeepsWhatWouldFail) {
  drain_queue();
  wait_for("the other pod to leave", 60,
           [&]() -> std::string { return is_leaving("again") ? "" : "not yet"; });
  wait_told("fails", "TFJob team-a/fails would fail without pod fails");
  EXPECT_FALSE(is_leaving("fails"));
  EXPECT_THAT(refused_to_berth(), ::testing::IsEmpty());
}

TEST_F(ChartOwners, WithoutTheRightToReadBothStayAndTheRightIsNamed) {
  Object role = kube().get({"clusterroles", "berth"});
  std::size_t at = 0, found = 0;
  for (const Object& rule : role.items("/rules")) {
    if (rule.dump().find("kubeflow.org") != std::string::npos) found = at;
    ++at;
  }
  kube().patch({"clusterroles", "berth"}, PatchType::kJson,
               fmt::format(R"([{{"op": "remove", "path": "/rules/{}"}}])", found));
  drain_queue();
  for (const char* pod : {"fails", "again"}) {
    wait_told(pod, "grant get on tfjobs.kubeflow.org");
    EXPECT_FALSE(is_leaving(pod));
  }
}

}  // namespace
}  // namespace berth::test
