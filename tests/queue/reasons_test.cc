// SPDX-License-Identifier: Apache-2.0
// The reasons on pending workloads: which workloads, when, how often.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/queue/admit/queue_keys.h"
#include "controller/queue/admit/release.h"
#include "controller/queue/status/reconcile.h"
#include "tests/queue/queue_objects.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class ReasonsTest : public ::testing::Test {
 protected:
  ReasonsTest() {
    add(policy_with("training")), add(node_of("n1", 8));
    add(namespace_of("a", "vision")), add(queue_of("vision", 8));
    berth::Job runs = job_of("a", "runs", 8);
    runs.suspended = false;
    note_admission(runs.meta, "vision", {{"nvidia.com/gpu", 8}});
    add(runs);
  }
  template <class T>
  void add(T object) {
    object.meta.resource_version = std::to_string(++version);
    cluster.upsert(std::move(object), now);
  }
  void submit(const std::string& name, int gpus) {
    berth::Job job = job_of("a", name, gpus);
    job.meta.creation_timestamp = now;
    add(job);
  }
  Plan plan() { return reconcile_reasons({cluster, answers, settings, now}); }
  // "train WaitingForQuota: needs …", applied as the API server would.
  std::vector<std::string> told() {
    std::vector<std::string> lines;
    for (const ObjectSteps& object : plan().objects) {
      const auto body = nlohmann::json::parse(std::get<Write>(object.steps.front()).body);
      EXPECT_TRUE(body["metadata"].contains("resourceVersion"));
      const std::string text = body["metadata"]["annotations"][names::kPendingReasonAnnotation];
      berth::Job job = *cluster.jobs().find("a", object.object.name);
      job.meta.annotations.set(names::kPendingReasonAnnotation, text);
      add(job);
      lines.push_back(object.object.name + " " + text);
    }
    return lines;
  }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now = *parse_time("2026-11-21T12:00:00Z");
  int version = 0;
};

TEST_F(ReasonsTest, WhatWaitingMayEndIsToldAfterAMinuteAndOnce) {
  submit("train", 8);
  EXPECT_THAT(plan().objects, IsEmpty());
  EXPECT_EQ(plan().requeue_after, 1min);
  now += 1min;
  EXPECT_THAT(told(), ElementsAre("train WaitingForQuota: needs 8 nvidia.com/gpu in pool training, "
                                  "0 free with a nominal quota of 8 (as of 2026-11-21T12:01:00Z)"));
  now += 10min;
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(ReasonsTest, WhatOnlyAPersonEndsIsToldAtOnce) {
  submit("huge", 9);
  EXPECT_THAT(told(), ElementsAre(::testing::StartsWith("huge ExceedsMaximum: ")));
}

// It is in no queue's status.
TEST_F(ReasonsTest, ThatTheQueueDoesNotExistIsToldAtOnce) {
  berth::Job job = job_of("a", "misspelt", 1);
  job.meta.creation_timestamp = now;
  job.meta.labels.set(names::kQueueLabel, "visoin");
  add(job);
  EXPECT_THAT(told(), ElementsAre("misspelt QueueNotFound: the queue that it names does not exist "
                                  "(as of 2026-11-21T12:00:00Z)"));
  EXPECT_THAT(told(), IsEmpty());
}

// The last queue has been deleted. The annotation keeps berth from a second event.
TEST_F(ReasonsTest, WithoutAnyQueueAJobThatNamesOneGetsTheReasonAndOneEvent) {
  submit("train", 8);
  cluster.erase<GPUQueue>("", "vision");
  berth::Job job = *cluster.jobs().find("a", "train");
  EXPECT_THAT(plan().objects, IsEmpty()) << "it names none";
  job.meta.labels.set(names::kQueueLabel, "vision");
  add(job);
  const Plan first = plan();
  ASSERT_THAT(first.events, SizeIs(1));
  EXPECT_EQ(first.events[0].regarding, ref_of(job));
  EXPECT_TRUE(first.events[0].warning);
  EXPECT_EQ(first.events[0].reason, std::string("QueueNotFound"));
  EXPECT_EQ(first.events[0].note,
            "waits for GPUQueue vision, which does not exist: create it, or name another in label "
            "gpu.berth.dev/queue");
  EXPECT_THAT(told(), ElementsAre(::testing::StartsWith("train QueueNotFound: ")));
  EXPECT_THAT(plan().events, IsEmpty());
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(ReasonsTest, TheDeletionOfTheLastQueueAndJobsThatNameOneAreReasonsToLook) {
  const GPUQueue last = *cluster.gpu_queues().find("vision");
  cluster.erase<GPUQueue>("", "vision");
  const auto none = static_cast<const GPUQueue*>(nullptr);
  EXPECT_THAT(queue_keys_for(cluster, settings, &last, none), ElementsAre(kReasonsKey));
  submit("train", 8);
  berth::Job job = *cluster.jobs().find("a", "train");
  const auto nobody = static_cast<const berth::Job*>(nullptr);
  EXPECT_THAT(queue_keys_for(cluster, settings, nobody, &job), IsEmpty());
  EXPECT_THAT(all_queue_keys(cluster, settings), IsEmpty());
  job.meta.labels.set(names::kQueueLabel, "vision");
  add(job);
  EXPECT_THAT(queue_keys_for(cluster, settings, nobody, &job), ElementsAre(kReasonsKey));
  EXPECT_THAT(all_queue_keys(cluster, settings), ::testing::Contains(kReasonsKey));
}

TEST_F(ReasonsTest, AnotherReasonIsWrittenAnewAndReleaseTakesItAway) {
  submit("train", 8);
  now += 1min;
  EXPECT_THAT(told(), SizeIs(1));
  GPUQueue held = queue_of("vision", 8);
  held.spec.stop_policy = StopPolicy::kHold;
  add(held);
  EXPECT_THAT(told(), ElementsAre(::testing::StartsWith("train QueueHeld: ")));
  const AdmissionFact admission{.uid = "train", .queue = "vision", .pool = "training"};
  const auto body =
      nlohmann::json::parse(release_job(*cluster.jobs().find("a", "train"), admission, {}).body);
  EXPECT_TRUE(body["metadata"]["annotations"][names::kPendingReasonAnnotation].is_null());
  EXPECT_TRUE(body["metadata"]["annotations"].contains(names::kPendingReasonAnnotation));
}

TEST_F(ReasonsTest, NoMoreThanFiveASecondAndTheOldestFirst) {
  for (const char* name : {"g", "f", "e", "d", "c", "b"}) submit(name, 9), now += 1s;
  const Plan first = plan();
  EXPECT_EQ(first.requeue_after, 1s);
  EXPECT_EQ(first.objects.front().object.name, "g");
  EXPECT_THAT(told(), SizeIs(5));
  EXPECT_THAT(told(), ElementsAre(::testing::StartsWith("b ")));
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(plan().requeue_after, std::nullopt);
}

// Otherwise berth would retry it before all others for as long as it is pending.
TEST_F(ReasonsTest, OneThatMayNotBeWrittenKeepsNoneOfTheOthersWaiting) {
  for (const char* name : {"g", "f", "e", "d", "c", "b"}) submit(name, 9), now += 1s;
  const Plan first = plan();
  for (const ObjectSteps& object : first.objects) {
    const Write& write = std::get<Write>(object.steps.front());
    answers.put(question(write), {.error = {ErrorKind::kForbidden, "not on Fridays"},
                                  .at = now,
                                  .object = write.object.str(),
                                  .field_manager = write.field_manager});
  }
  EXPECT_THAT(told(), ElementsAre(::testing::StartsWith("b ")));
}

// Each pod of a gang has the reason: users look at any of them.
TEST_F(ReasonsTest, EveryMemberOfAGangIsTold) {
  for (const char* name : {"ring-0", "ring-1"}) {
    berth::Pod pod;
    pod.meta.namespace_ = "a";
    pod.meta.name = pod.meta.uid = name;
    pod.meta.creation_timestamp = now;
    pod.meta.labels.set(names::kPodGroupLabel, "ring");
    pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "2");
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(3));
    pod.shape.edit()->scheduling_gates = {names::kQueueGate};
    add(pod);
  }
  now += 1min;
  EXPECT_THAT(plan().objects, SizeIs(2));
}

}  // namespace
}  // namespace berth::queue
