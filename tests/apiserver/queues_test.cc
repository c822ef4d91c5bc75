// SPDX-License-Identifier: Apache-2.0
// GPUQueues on the real API server: their reports about pending and running Jobs.
#include <fmt/format.h>

#include <map>

#include "tests/apiserver/queue_fixture.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Queues : public QueueTest {
 protected:
  std::size_t status_writes() {
    std::size_t count = 0;
    for (const AuditEvent& event : writes()) count += event.resource == "gpuqueues" ? 1 : 0;
    return count;
  }
};

TEST_F(Queues, ThreeTeamsAskFor36Of32GpusAndTheLastWaitsUntilOthersEnd) {
  add_pool(4);
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
  // Its namespace has not opted in.
  EXPECT_EQ(nlp.condition("NamespaceNotManaged"), "True");

  // An admitted Job has its record, and its pods run where the record says.
  const Object v1 = kube().get({"jobs", "v1", "team-a"});
  EXPECT_EQ(v1.text("/spec/template/spec/nodeSelector/gpu.berth.dev~1pool"), "training");
  EXPECT_EQ(v1.text("/spec/template/metadata/annotations/gpu.berth.dev~1admitted"),
            v1.text("/metadata/annotations/gpu.berth.dev~1admitted"));
  EXPECT_THAT(v1.text("/metadata/annotations/gpu.berth.dev~1admitted"),
              HasSubstr(R"("queue":"vision")"));

  // As work ends, a pending workload borrows what another team does not use.
  kube().patch({"jobs", "s1", "default"}, PatchType::kMerge, R"({"spec": {"parallelism": 0}})");
  wait_used("nlp", "12/8");
  EXPECT_EQ(queue("nlp").number("/status/totals/borrowed"), 4);

  // Nothing is pending any more, and berth writes nothing.
  wait_reasons("nlp", "");
  const std::size_t before = status_writes();
  kube().set_annotation({"nodes", "n1"}, "example.com/seen", "true");
  EXPECT_EQ(status_writes(), before);
}

TEST_F(Queues, GatedPodsAreLetGoOneByOneAndAGangWhole) {
  add_pool(2);
  apply_queue("vision", "team-a", 8);
  start_berth();
  submit("team-a", "huge", 99);
  wait_for("the Job to be told that it never starts", 30, [&]() -> std::string {
    const Object huge = kube().get({"jobs", "huge", "team-a"});
    const std::string told = huge.text("/metadata/annotations/gpu.berth.dev~1pending-reason");
    return told.starts_with("ExceedsMaximum: ") ? "" : huge.dump();
  });
  kube().remove({"jobs", "huge", "team-a"});
  gate("team-a", "ring-0", 3, "ring", 2);
  wait_reasons("vision", "WaitingForGang 1");
  gate("team-a", "ring-1", 3, "ring", 2), gate("team-a", "single", 2);
  for (const char* name : {"ring-0", "ring-1", "single"}) wait_bound("team-a", name);
  gate("team-a", "late", 1);  // ages count in whole seconds: only now it is certainly the last
  wait_reasons("vision", "WaitingForQuota 1");
  EXPECT_TRUE(gated("team-a", "late"));
  kube().remove({"pods", "single", "team-a"});
  wait_bound("team-a", "late");
  wait_nothing_in_flight();
}

// A hundred pods at once, of which the quota admits forty; the Deployment's template itself has the
// gate.
TEST_F(Queues, ADeploymentThatIsScaledAtOnceGetsItsQuotaAndNoMore) {
  add_pool(6);
  apply_queue("vision", "team-a", 40);
  start_berth();
  kube().apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: team-a, name: web}
spec:
  replicas: 100
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      schedulingGates: [{name: gpu.berth.dev/queue}]
      containers: [{name: main, image: example.com/web, resources: {limits: {nvidia.com/gpu: 1}}}]
)");
  const auto open = [&] {
    int count = 0;
    for (const Object& pod : kube().list("pods", "team-a"))
      if (!pod.has("/metadata/deletionTimestamp") && !pod.has("/spec/schedulingGates")) ++count;
    return count;
  };
  wait_used("vision", "40/40");
  wait_reasons("vision", "WaitingForQuota 60");
  EXPECT_EQ(open(), 40);
  // As pods end, pending ones take their place, and no more.
  int taken = 0;
  for (const Object& pod : kube().list("pods", "team-a")) {
    if (pod.has("/spec/schedulingGates") || taken == 10) continue;
    kube().remove({"pods", pod.text("/metadata/name"), "team-a"});
    ++taken;
  }
  wait_for("ten others to be let go", 60, [&]() -> std::string {
    const int now = open();
    EXPECT_LE(now, 40);
    return now == 40 && reasons("vision") == "WaitingForQuota 60" ? "" : queue("vision").dump();
  });
  wait_nothing_in_flight();
}

// docs/from-kueue.md relies on it: until a Job has berth's label, only Kueue resumes it.
TEST_F(Queues, AJobThatHasKueuesLabelAloneIsCountedWhereItRunsAndNotLetGo) {
  constexpr char kKueues[] = "kueue.x-k8s.io/queue-name";
  const Ref waits{"jobs", "waits", "team-a"}, runs{"jobs", "runs", "team-a"};
  add_pool(1);
  apply_queue("vision", "team-a", 8);
  submit("team-a", "waits", 2), submit("team-a", "runs", 3);
  for (const Ref& job : {waits, runs}) kube().set_label(job, kKueues, "main");
  kube().patch(runs, PatchType::kMerge, R"({"spec": {"suspend": false}})");
  start_berth();
  wait_used("vision", "3/8");
  // Younger, and admitted: it has passed the older one.
  submit("team-a", "ours", 1);
  wait_used("vision", "4/8");
  EXPECT_EQ(kube().get(waits).at("/spec/suspend").dump(), "true");
  EXPECT_EQ(reasons("vision"), "");
  kube().set_label(waits, "gpu.berth.dev/queue", "vision");
  wait_used("vision", "6/8");
  EXPECT_EQ(kube().get(waits).at("/spec/suspend").dump(), "false");
}

TEST_F(Queues, ANamespacesBoundsAreKeptAndGoWithTheQueue) {
  apply_queue("vision", "team-a", 9);
  kube().set_label({"namespaces", "team-a"}, "gpu.berth.dev/managed", "true");
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
  // Pending pods count in it.
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
  add_pool(1);
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
  // By its short name, as kubectl requests the table.
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
