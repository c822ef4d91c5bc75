// SPDX-License-Identifier: Apache-2.0
// GPUQueues on the real API server: what they tell of Jobs that wait and run.
#include <fmt/format.h>

#include <map>

#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kPolicy[] = R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUClusterPolicy
metadata: {name: cluster}
spec: {pools: [{name: training, nodeSelector: {matchLabels: {tier: training}}}]}
)";

class Queues : public RolloutTest {
 protected:
  void SetUp() override {
    invariants_.pool_labels = {"gpu.berth.dev/pool"};
    RolloutTest::SetUp();
  }
  // The namespace is the queue's: without a label its workloads are in it.
  void apply_queue(const std::string& name, const std::string& namespace_, int nominal) {
    kube().apply(fmt::format(R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {{name: {0}}}
spec:
  cohortName: research
  default: true
  namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {1}}}}}
  quotas: [{{resource: nvidia.com/gpu, pool: training, nominalQuota: {2}}}]
)",
                             name, namespace_, nominal));
  }
  void submit(const std::string& namespace_, const std::string& name, int gpus) {
    kube().apply(fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{namespace: {0}, name: {1}}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: main, image: example.com/train, resources: {{limits: {{nvidia.com/gpu: {2}}}}}}}]
)",
                             namespace_, name, gpus));
  }
  Object queue(const std::string& name) { return kube().get({"gpuqueues", name}); }
  // "NoQuota 2, WaitingForQuota 1".
  std::string reasons(const std::string& name) {
    std::string told;
    for (const Object& row : queue(name).items("/status/pendingReasons"))
      told += fmt::format("{}{} {}", told.empty() ? "" : ", ", row.text("/reason"),
                          row.number("/count"));
    return told;
  }
  void wait_reasons(const std::string& name, const std::string& wanted) {
    wait_for(name + " to tell " + wanted, 30, [&]() -> std::string {
      return reasons(name) == wanted ? "" : queue(name).at("/status").dump();
    });
  }
  void wait_used(const std::string& name, const std::string& wanted) {
    wait_for(name + " to use " + wanted, 30, [&]() -> std::string {
      return queue(name).text("/status/totals/used") == wanted ? ""
                                                               : queue(name).at("/status").dump();
    });
  }
  std::size_t status_writes() {
    std::size_t count = 0;
    for (const AuditEvent& event : writes()) count += event.resource == "gpuqueues" ? 1 : 0;
    return count;
  }
};

TEST_F(Queues, ThreeTeamsAskFor36Of32GpusAndTheLastWaitsUntilOthersEnd) {
  cluster().add_gpu_nodes(4, {.gpus = 8, .labels = {{"tier", "training"}}});
  cluster().wait_agents_running();
  kube().apply(kPolicy);
  apply_queue("vision", "team-a", 16), apply_queue("nlp", "team-b", 8);
  apply_queue("speech", "default", 8);
  start_berth();
  submit("team-a", "v1", 8), submit("team-a", "v2", 8);
  for (const char* name : {"n1", "n2", "n3"}) submit("team-b", name, 4);
  submit("default", "s1", 8);

  wait_used("vision", "16/16"), wait_used("nlp", "8/8"), wait_used("speech", "8/8");
  wait_reasons("nlp", "WaitingForQuota 1");
  const Object nlp = queue("nlp");
  EXPECT_EQ(nlp.condition("Ready"), "True");
  EXPECT_EQ(nlp.number("/status/totals/admitted"), 2);
  EXPECT_EQ(nlp.number("/status/totals/pending"), 1);
  ASSERT_EQ(nlp.items("/status/pending").size(), 1u);
  const Object last = nlp.items("/status/pending").at(0);
  EXPECT_EQ(last.number("/position"), 1);
  EXPECT_THAT(last.text("/message"),
              HasSubstr("needs 4 nvidia.com/gpu in pool training, 0 free with a nominal quota"));
  EXPECT_EQ(nlp.condition("Unfunded"), "");
  // Its namespace is no one that opted in.
  EXPECT_EQ(nlp.condition("NamespaceNotManaged"), "True");

  // What was let go says with what, and its pods run where it says.
  const Object v1 = kube().get({"jobs", "v1", "team-a"});
  EXPECT_EQ(v1.text("/spec/template/spec/nodeSelector/gpu.berth.dev~1pool"), "training");
  EXPECT_EQ(v1.text("/spec/template/metadata/annotations/gpu.berth.dev~1admitted"),
            v1.text("/metadata/annotations/gpu.berth.dev~1admitted"));
  EXPECT_THAT(v1.text("/metadata/annotations/gpu.berth.dev~1admitted"),
              HasSubstr(R"("queue":"vision")"));

  // As work ends, what waits borrows what another team leaves free.
  kube().patch({"jobs", "s1", "default"}, PatchType::kMerge, R"({"spec": {"parallelism": 0}})");
  wait_used("nlp", "12/8");
  EXPECT_EQ(queue("nlp").number("/status/totals/borrowed"), 4);

  // Nothing waits any more, and nothing is written.
  wait_reasons("nlp", "");
  const std::size_t before = status_writes();
  kube().set_annotation({"nodes", "n1"}, "example.com/seen", "true");
  EXPECT_EQ(status_writes(), before);
}

TEST_F(Queues, GatedPodsAreLetGoOneByOneAndAGangWhole) {
  cluster().add_gpu_nodes(2, {.gpus = 8, .labels = {{"tier", "training"}}});
  cluster().wait_agents_running();
  kube().apply(kPolicy);
  apply_queue("vision", "team-a", 8);
  start_berth();
  const auto gated = [&](const std::string& name, int gpus, const std::string& group) {
    kube().apply(fmt::format(R"(
apiVersion: v1
kind: Pod
metadata: {{namespace: team-a, name: {0}{2}}}
spec:
  schedulingGates: [{{name: gpu.berth.dev/queue}}]
  containers: [{{name: main, image: example.com/train, resources: {{limits: {{nvidia.com/gpu: {1}}}}}}}]
)",
                             name, gpus, group));
  };
  const std::string gang =
      ", labels: {gpu.berth.dev/pod-group: ring}, annotations: {gpu.berth.dev/pod-group-size: '2'}";
  submit("team-a", "huge", 99);
  wait_for("the Job to be told that it never starts", 30, [&]() -> std::string {
    const Object huge = kube().get({"jobs", "huge", "team-a"});
    const std::string told = huge.text("/metadata/annotations/gpu.berth.dev~1pending-reason");
    return told.starts_with("ExceedsMaximum: ") ? "" : huge.dump();
  });
  kube().remove({"jobs", "huge", "team-a"});
  const auto node_of = [&](const char* name) {
    return kube().get({"pods", name, "team-a"}).text("/spec/nodeName");
  };
  gated("ring-0", 3, gang);
  wait_reasons("vision", "WaitingForGang 1");
  gated("ring-1", 3, gang), gated("single", 2, "");
  wait_for("the gang and the single pod to run", 30, [&]() -> std::string {
    for (const char* name : {"ring-0", "ring-1", "single"})
      if (node_of(name).empty()) return kube().get({"pods", name, "team-a"}).dump();
    return "";
  });
  gated("late", 1, "");  // ages are told in whole seconds: only now it is the last for certain
  wait_reasons("vision", "WaitingForQuota 1");
  EXPECT_EQ(node_of("late"), "");
  kube().remove({"pods", "single", "team-a"});
  wait_for("the last to run", 30, [&]() -> std::string {
    return node_of("late").empty() ? kube().get({"pods", "late", "team-a"}).dump() : "";
  });
  // What was in flight is forgotten once its objects show it.
  wait_for("an empty ledger", 30, [&]() -> std::string {
    const Object ledger = kube().get({"configmaps", "berth-admissions", "berth-system"});
    return !ledger.has("/data") ? "" : ledger.dump();
  });
}

TEST_F(Queues, ANamespacesBoundsAreKeptAndGoWithTheQueue) {
  apply_queue("vision", "team-a", 9);
  kube().patch(
      {"gpuqueues", "vision"}, PatchType::kMerge,
      R"({"spec": {"namespaceQuota": {"enabled": true, "hard": {"requests.nvidia.com/gpu": 2}}}})");
  start_berth();
  const Ref quota{"resourcequotas", "berth-vision", "team-a"};
  const auto wait_hard = [&](const std::string& hard) {
    wait_for("bounds " + hard, 30, [&]() -> std::string {
      const std::optional<Object> now = kube().find(quota);
      if (!now) return "none";
      return now->at("/spec/hard").dump() == hard ? "" : now->dump();
    });
  };
  wait_hard(R"({"requests.nvidia.com/gpu":"2"})");
  kube().patch(quota, PatchType::kMerge,
               R"({"spec": {"hard": {"requests.nvidia.com/gpu": "5", "requests.cpu": "1"}}})");
  wait_hard(R"({"requests.nvidia.com/gpu":"2"})");
  wait_for("the event of it", 30, [&]() -> std::string {
    for (const Object& event : kube().list("events", "team-a"))
      if (event.text("/reason") == "NamespaceQuotaCorrected") return "";
    return "no such event";
  });
  // Pods that wait count in it.
  const auto make = [&](const char* name) {
    return kube().send(
        "POST", "/api/v1/namespaces/team-a/pods",
        fmt::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{}"}}, "spec":)"
                    R"( {{"schedulingGates": [{{"name": "gpu.berth.dev/queue"}}], "containers":)"
                    R"( [{{"name": "main", "image": "x", "resources": {{"limits":)"
                    R"( {{"nvidia.com/gpu": 2}}}}}}]}}}})",
                    name));
  };
  wait_for("the server to count", 30, [&]() -> std::string {
    return kube().get(quota).text("/status/hard/requests.nvidia.com~1gpu") == "2" ? "" : "not yet";
  });
  EXPECT_TRUE(make("first").ok());
  const Reply second = make("second");
  EXPECT_EQ(second.status, 403);
  EXPECT_THAT(second.body.text("/message"), HasSubstr("exceeded quota: berth-vision"));
  kube().remove({"gpuqueues", "vision"});
  wait_for("the quota to go with its queue", 60, [&]() -> std::string {
    return kube().list("resourcequotas", "team-a").empty() ? "" : "still there";
  });
}

TEST_F(Queues, AQueueThatPromisesMoreThanThereIsSaysSoAndOneThatIsHeldIsNotReady) {
  cluster().add_gpu_nodes(1, {.gpus = 8, .labels = {{"tier", "training"}}});
  cluster().wait_agents_running();
  kube().apply(kPolicy);
  apply_queue("vision", "team-a", 9);
  start_berth();
  wait_for("vision to be Unfunded", 30, [&]() -> std::string {
    return queue("vision").condition("Unfunded") == "True" ? "" : queue("vision").dump();
  });
  kube().patch({"gpuqueues", "vision"}, PatchType::kMerge, R"({"spec": {"stopPolicy": "Hold"}})");
  wait_for("vision to be held", 30, [&]() -> std::string {
    const Object now = queue("vision");
    return now.condition("Ready") == "False" && now.condition("Stalled").empty() ? "" : now.dump();
  });
  // By its short name, as kubectl asks for the table.
  const Reply table = kube().send("GET", "/apis/gpu.berth.dev/v1alpha1/gpuqueues", "", "",
                                  "application/json;as=Table;v=v1;g=meta.k8s.io");
  std::vector<std::string> columns;
  for (const Object& column : table.body.items("/columnDefinitions"))
    if (column.number("/priority") == 0) columns.push_back(column.text("/name"));
  EXPECT_THAT(columns, ElementsAre("Name", "READY", "COHORT", "ADMITTED", "PENDING", "USED",
                                   "BORROWED", "OLDEST", "AGE"));
  EXPECT_EQ(table.body.text("/rows/0/cells/5"), "0/9");
}

}  // namespace
}  // namespace berth::test
