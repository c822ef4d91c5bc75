// SPDX-License-Identifier: Apache-2.0
// The answer of `berth why` for pods that a framework starts together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/explain/explain_pod.h"
#include "tests/queue/framework_pods.h"
#include "tests/queue/queue_objects.h"

namespace berth {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::Not;
using ::testing::StartsWith;

class UnsizedGang : public ::testing::Test {
 protected:
  UnsizedGang() {
    add(queue::policy_with("training")), add(queue::node_of("n1", 8));
    add(queue::namespace_of("ns", "vision")), add(queue::queue_of("vision", 8));
  }
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  Explanation why(Pod pod, bool gated = true) {
    if (gated) pod.shape.edit()->scheduling_gates = {names::kQueueGate};
    add(pod);
    return explain_pod(Snapshot{cluster, answers, settings, now}, pod, no_clues());
  }
  static auto says(const std::string& words) {
    return Contains(Field("message", &Explanation::Fact::message, StartsWith(words)));
  }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now = *parse_time("2026-11-21T12:00:00Z");
};

TEST_F(UnsizedGang, IsToldWhatWouldMakeItOne) {
  Pod pod = queue::test::stateful_pod("ring", 0);
  EXPECT_THAT(why(pod).facts,
              says("StatefulSet ring says no size, so each of its pods is admitted by itself; "
                   "annotation gpu.berth.dev/pod-group-size: \"N\" on the pod template makes"));
  pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "four");
  EXPECT_THAT(why(pod).facts, says("StatefulSet ring says 'four', which is no size, so each"));
}

TEST_F(UnsizedGang, IsNoNewsOfWhatRunsOrHasASizeOrIsAlone) {
  EXPECT_THAT(why(queue::test::stateful_pod("ring", 0), false).facts,
              Not(says("StatefulSet ring says")));
  EXPECT_THAT(why(queue::test::leader_worker_pod("llm", 0, 0, 2)).facts,
              Not(says("LeaderWorkerSet llm says")));
  Pod alone;
  alone.meta.name = alone.meta.uid = "alone", alone.meta.namespace_ = "ns";
  alone.shape.edit()->requests = {{"nvidia.com/gpu", Quantity::whole(1)}};
  EXPECT_THAT(why(alone).facts, Not(Contains(Field("message", &Explanation::Fact::message,
                                                   ::testing::HasSubstr("no size")))));
}

// Its Job is in the store but not berth's to admit: the answer is about the pod.
TEST_F(UnsizedGang, OfAJobSetIsExplainedByItsPod) {
  Job job = queue::job_of("ns", "train-workers-0", 1);
  job.suspended = false;
  job.meta.owner_references = {{.kind = "JobSet", .name = "train", .uid = "s", .controller = true}};
  add(job);
  const Explanation told = why(queue::test::job_set_pod("train", "workers", 0));
  EXPECT_EQ(told.reason, "Admissible") << told.message;
  EXPECT_THAT(told.facts, says("JobSet train says no size"));
}

}  // namespace
}  // namespace berth
