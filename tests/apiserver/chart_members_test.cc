// SPDX-License-Identifier: Apache-2.0
// A gang on a real API server, with the chart's rights: members that request more than their gang
// was admitted with wait, and pods without a gate are charged for their requests.
#include <fmt/format.h>

#include "tests/apiserver/chart_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;

constexpr char kQueue[] = R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {name: vision}
spec:
  default: true
  namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [team-a]}]}
  quotas: [{resource: nvidia.com/gpu, pool: "*", nominalQuota: 8}]
)";

class ChartMembers : public ChartTest {
 protected:
  void SetUp() override {
    ChartTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_node({.name = "n1"});
    const Said installed = install({});
    ASSERT_EQ(installed.code, 0) << installed.text;
    kube().apply(kQueue);
    start_berth_as_account();
  }
  void TearDown() override {
    if (!IsSkipped()) {
      stop_berth();
      for (const std::string& name : made_)
        kube().remove({"pods", name, "team-a"}, R"({"gracePeriodSeconds": 0})");
      kube().remove({"gpuqueues", "vision"});
    }
    ChartTest::TearDown();
  }
  // A member of a gang of three that starts with its first pod.
  void make(const std::string& name, int gpus, bool gated = true) {
    made_.push_back(name);
    kube().apply(fmt::format(
        R"(
apiVersion: v1
kind: Pod
metadata:
  name: {}
  namespace: team-a
  labels: {{gpu.berth.dev/queue: vision, gpu.berth.dev/pod-group: c}}
  annotations: {{gpu.berth.dev/pod-group-size: "3", gpu.berth.dev/fast-admission: "true"}}
spec:
  terminationGracePeriodSeconds: 1
  {}
  containers: [{{name: main, image: x{}}}]
)",
        name, gated ? "schedulingGates: [{name: gpu.berth.dev/queue}]" : "restartPolicy: Always",
        gpus == 0 ? "" : fmt::format(", resources: {{limits: {{nvidia.com/gpu: {}}}}}", gpus)));
  }
  void wait_running(const std::string& name) {
    wait_for(name + " to run", 60, [&]() -> std::string {
      const Object pod = kube().get({"pods", name, "team-a"});
      return pod.text("/status/phase") == "Running" ? "" : pod.dump();
    });
  }
  void wait_used(const std::string& used) {
    wait_for("the queue to hold " + used, 60, [&]() -> std::string {
      const Object queue = kube().get({"gpuqueues", "vision"});
      return queue.text("/status/totals/used") == used ? "" : queue.at("/status").dump();
    });
  }
  // For a tenant with `edit` in a managed namespace: the admission relies on the number of pods in
  // the group.
  void expect_group_is_kept(const std::string& name) {
    set_managed("\"true\"");
    Kube tenant(person("tina", "edit", "team-a"));
    const auto refusal_of = [&](const std::string& change) {
      const Reply reply =
          tenant.send("PATCH", path_of({"pods", name, "team-a"}) + "?dryRun=All",
                      fmt::format(R"({{"metadata": {}}})", change), "application/merge-patch+json");
      return reply.status == 403 ? reply.body.text("/message") : reply.body.dump();
    };
    wait_for("the policy to count", 30, [&]() -> std::string {
      const std::string told = refusal_of(R"({"annotations": {"gpu.berth.dev/admitted": null}})");
      return told.find("only berth writes") != std::string::npos ? "" : told;
    });
    for (const char* change : {R"({"annotations": {"gpu.berth.dev/pod-group-size": "9"}})",
                               R"({"annotations": {"gpu.berth.dev/pod-group-size": null}})",
                               R"({"annotations": {"gpu.berth.dev/pod-role-size": "9"}})",
                               R"({"labels": {"gpu.berth.dev/pod-group": "other"}})",
                               R"({"labels": {"gpu.berth.dev/pod-group": null}})",
                               R"({"labels": {"batch.kubernetes.io/controller-uid": "other"}})"})
      EXPECT_THAT(refusal_of(change), testing::HasSubstr("keeps its group")) << change;
    set_managed("null");
  }
  static void set_managed(const std::string& value) {
    kube().patch(
        {"namespaces", "team-a"}, PatchType::kMerge,
        fmt::format(R"({{"metadata": {{"labels": {{"gpu.berth.dev/managed": {}}}}}}})", value));
  }
  std::vector<std::string> made_;
};

TEST_F(ChartMembers, AskForNoMoreThanTheirGangWasAdmittedWith) {
  make("c0", 0);
  wait_running("c0");
  make("c1", 4);
  wait_for("the reason of c1", 120, [&]() -> std::string {
    const Object pod = kube().get({"pods", "c1", "team-a"});
    const std::string told = pod.text("/metadata/annotations/gpu.berth.dev~1pending-reason");
    return told.starts_with("ExceedsAdmission: asks for 4 nvidia.com/gpu") ? "" : pod.dump();
  });
  EXPECT_EQ(kube().get({"pods", "c1", "team-a"}).text("/spec/nodeName"), "");
  wait_used("0/8");
  expect_group_is_kept("c0");
  // The webhook was down, and another pod came without a gate.
  make("c2", 4, false);
  wait_running("c2");
  wait_used("4/8");
}

}  // namespace
}  // namespace berth::test
