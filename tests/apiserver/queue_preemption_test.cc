// SPDX-License-Identifier: Apache-2.0
// Preemption on the real control plane: serving reclaims GPUs from training, whose Jobs do not fail
// because of it, get notice before, and run again when there is free capacity.
#include <fmt/format.h>

#include <ctime>

#include "tests/apiserver/queue_fixture.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::time_t second_of(const std::string& rfc3339) {
  std::tm time{};
  EXPECT_NE(::strptime(rfc3339.c_str(), "%Y-%m-%dT%H:%M:%S", &time), nullptr) << rfc3339;
  return ::timegm(&time);
}

constexpr auto npos = std::string::npos;

class QueuePreemption : public QueueTest {
 protected:
  // Two queues of one cohort share 16 GPUs; training in team-a borrows what team-b does not use.
  void share_pool(const std::string& preemption) {
    add_pool(2);
    apply_queue("training", "team-a", 8);
    apply_queue("serving", "team-b", 8);
    kube().patch({"gpuqueues", "serving"}, PatchType::kMerge,
                 fmt::format(R"({{"spec": {{"preemption": {}}}}})", preemption));
    start_berth();
  }
  // It made a checkpoint at that minute of an hour long ago, or never.
  void train(const std::string& name, int saved_at = -1) {
    submit("team-a", name, 4);
    if (saved_at >= 0)
      kube().set_annotation({"jobs", name, "team-a"}, "gpu.berth.dev/last-checkpoint",
                            fmt::format("2035-01-01T00:{:02}:00Z", saved_at));
  }
  // A Job with a deadline of so many seconds.
  void submit_for(const std::string& name, int gpus, int seconds) {
    kube().apply(fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{namespace: team-a, name: {}}}
spec:
  suspend: true
  activeDeadlineSeconds: {}
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: main, image: example.com/train, resources: {{limits: {{nvidia.com/gpu: {}}}}}}}]
)",
                             name, seconds, gpus));
  }
  Object job(const std::string& name) { return kube().get({"jobs", name, "team-a"}); }
  std::vector<std::string> suspended() {
    std::vector<std::string> names;
    for (const Object& job : kube().list("jobs", "team-a"))
      if (job.truth("/spec/suspend")) names.push_back(job.name());
    return names;
  }
  void wait_suspended(const std::vector<std::string>& names) {
    wait_for("those to be suspended that have to go", 60, [&]() -> std::string {
      return suspended() == names ? "" : fmt::format("{} are", fmt::join(suspended(), " "));
    });
  }
  // berth's suspensions, by its audit events.
  std::vector<AuditEvent> suspensions() {
    std::vector<AuditEvent> found;
    for (const AuditEvent& event : writes())
      if (event.ok() && event.resource == "jobs" && event.request.truth("/spec/suspend"))
        found.push_back(event);
    return found;
  }
};

TEST_F(QueuePreemption, ServingTakesBackWhatTrainingBorrowedAndTrainingResumes) {
  share_pool(R"({"reclaimWithinCohort": "Any"})");
  train("own", 3);
  wait_used("training", "4/8");
  train("second", 2);
  wait_used("training", "8/8");
  train("unsaved"), train("saved", 59);
  wait_used("training", "16/8");

  // Of the two borrowing Jobs, the one with a fresh checkpoint loses less; work within its quota is
  // safe.
  gate("team-b", "api-0", 4);
  wait_bound("team-b", "api-0");
  EXPECT_THAT(suspended(), ElementsAre("saved"));
  EXPECT_THAT(job("saved").annotation("gpu.berth.dev/preempted"),
              HasSubstr("for Pod/team-b/api-0 of queue serving"));
  gate("team-b", "api-1", 4);
  wait_bound("team-b", "api-1");
  EXPECT_THAT(suspended(), UnorderedElementsAre("saved", "unsaved"));
  wait_reasons("training", "WaitingForQuota 2");
  // Serving has its nominal quota and borrows; training does not yield to it.
  gate("team-b", "api-2", 4);
  wait_reasons("serving", "WaitingForQuota 1");
  EXPECT_THAT(suspensions(), ::testing::SizeIs(2));

  for (const char* pod : {"api-0", "api-1", "api-2"})
    kube().remove({"pods", pod, "team-b"}, R"({"gracePeriodSeconds": 0})");
  wait_used("training", "16/8");
  EXPECT_THAT(suspended(), IsEmpty());
  for (const char* name : {"own", "second", "saved", "unsaved"})
    EXPECT_EQ(job(name).number("/status/failed"), 0) << name;
  wait_nothing_in_flight();
}

TEST_F(QueuePreemption, ABorrowerRunsItsTimeAndIsToldBeforeItHasToGo) {
  share_pool(R"({"reclaimWithinCohort": "Any", "reclaimMinRuntime": "8s", "noticePeriod": "4s"})");
  for (const char* name : {"a", "b"}) train(name);
  wait_used("training", "8/8");
  train("borrows");
  wait_used("training", "12/8");
  const std::string since =
      Object::parse(job("borrows").annotation("gpu.berth.dev/admitted")).text("/since");
  gate("team-b", "api", 8);

  wait_for("notice", 60, [&]() -> std::string {
    return job("borrows").annotation("gpu.berth.dev/preemption-notice").empty()
               ? queue("serving").at("/status").dump()
               : "";
  });
  wait_suspended({"borrows"});
  const std::vector<AuditEvent> ends = suspensions();
  ASSERT_THAT(ends, ::testing::SizeIs(1));
  EXPECT_GE(second_of(ends[0].received_at) - second_of(since), 8 + 4 - 1) << "whole seconds";
  bool pod_was_told = false;
  for (const AuditEvent& event : writes())
    pod_was_told =
        pod_was_told || (event.resource == "pods" && event.received_at < ends[0].received_at &&
                         !event.request.annotation("gpu.berth.dev/preemption-notice").empty());
  EXPECT_TRUE(pod_was_told);
  wait_bound("team-b", "api");
}

// The gang of four preempts single pods that a Deployment re-creates: berth asks about each, evicts
// them, and they wait again.
TEST_F(QueuePreemption, AGangOfHigherPriorityDisplacesPodsOfItsQueue) {
  add_pool(1);
  kube().apply(R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
preemptionPolicy: Never
)");
  apply_queue("training", "team-a", 8);
  kube().patch({"gpuqueues", "training"}, PatchType::kMerge,
               R"({"spec": {"preemption": {"withinQueue": "LowerPriority"},)"
               R"( "priorityClasses": ["urgent"]}})");
  start_berth();
  kube().apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: team-a, name: sweep}
spec:
  replicas: 4
  selector: {matchLabels: {app: sweep}}
  template:
    metadata: {labels: {app: sweep}}
    spec:
      terminationGracePeriodSeconds: 1
      schedulingGates: [{name: gpu.berth.dev/queue}]
      containers: [{name: main, image: example.com/train, resources: {limits: {nvidia.com/gpu: 2}}}]
)");
  wait_used("training", "8/8");
  for (int i = 0; i < 3; ++i) {
    const std::string pod = fmt::format("ring-{}", i);
    kube().apply(fmt::format(R"(
apiVersion: v1
kind: Pod
metadata:
  namespace: team-a
  name: {}
  labels: {{gpu.berth.dev/pod-group: ring}}
  annotations: {{gpu.berth.dev/pod-group-size: "3"}}
spec:
  priorityClassName: urgent
  schedulingGates: [{{name: gpu.berth.dev/queue}}]
  containers: [{{name: main, image: example.com/train, resources: {{limits: {{nvidia.com/gpu: 2}}}}}}]
)",
                             pod));
  }
  for (int i = 0; i < 3; ++i) wait_bound("team-a", fmt::format("ring-{}", i));
  wait_reasons("training", "WaitingForQuota 3");
  int evicted = 0, asked = 0;
  for (const AuditEvent& event : events()) {
    if (!event.by_berth() || event.subresource != "eviction" || !event.ok()) continue;
    ++(event.dry_run() ? asked : evicted);
    EXPECT_THAT(event.name, HasSubstr("sweep-"));
  }
  EXPECT_EQ(evicted, 3);
  EXPECT_GE(asked, 3);
}

// berth reserves what a large Job needs. Jobs that end before it could start may go first.
TEST_F(QueuePreemption, WhatALargeJobWaitsForIsKeptForIt) {
  add_pool(1);
  apply_queue("training", "team-a", 8);
  kube().patch({"gpuqueues", "training"}, PatchType::kMerge,
               R"({"spec": {"reserveAfter": "60s"}})");
  start_berth();
  submit_for("runs", 4, 300);
  wait_used("training", "4/8");
  submit("team-a", "large", 8);
  wait_for("what it needs to be kept for it", 120, [&]() -> std::string {
    const Object now = queue("training");
    const bool kept = now.text("/status/pending/0/message").find("kept for it, from") != npos;
    return kept ? "" : now.at("/status").dump();
  });
  submit("team-a", "open-ended", 4);
  wait_for("it to be told", 30, [&]() -> std::string {
    return reasons("training").find("Reserved 1") != npos ? "" : queue("training").dump();
  });
  submit_for("short", 4, 60);
  wait_used("training", "8/8");
  EXPECT_THAT(suspended(), UnorderedElementsAre("large", "open-ended"));

  for (const char* name : {"short", "runs"})  // by default their pods would stay
    kube().remove({"jobs", name, "team-a"}, R"({"propagationPolicy": "Background"})");
  wait_for("it to begin", 60, [&]() -> std::string {
    return job("large").truth("/spec/suspend") ? queue("training").at("/status").dump() : "";
  });
  EXPECT_THAT(suspended(), ElementsAre("open-ended"));
}

}  // namespace
}  // namespace berth::test
