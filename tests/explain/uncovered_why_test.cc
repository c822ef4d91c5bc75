// SPDX-License-Identifier: Apache-2.0
// The answer of `berth why` for a member that requests more than its gang's admission, and for
// admissions of a later version of berth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/explain/explain_pod.h"
#include "controller/queue/record/admission_record.h"
#include "tests/queue/queue_objects.h"

namespace berth {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::StartsWith;

class UncoveredWhy : public ::testing::Test {
 protected:
  UncoveredWhy() {
    add(queue::policy_with("training")), add(queue::node_of("n1", 8));
    add(queue::namespace_of("ns", "vision")), add(queue::queue_of("vision", 8));
  }
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  static Pod member(const std::string& name, int gpus) {
    Pod pod;
    pod.meta.namespace_ = "ns";
    pod.meta.name = pod.meta.uid = name;
    pod.meta.labels.set(names::kPodGroupLabel, "gang");
    pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "2");
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
    return pod;
  }
  // One member runs, admitted with a gang of two GPUs.
  void run(std::int64_t version = queue::kRecordVersion) {
    Pod runs = member("g0", 1);
    runs.node_name = "n1";
    runs.phase = PodPhase::kRunning;
    const queue::AdmissionFact record{
        .version = version,
        .uid = "g0",
        .queue = "vision",
        .cohort = "research",
        .pool = "training",
        .pods = 2,
        .amounts = {{"nvidia.com/gpu", 2}},
        .shapes = {{.seat = "", .pods = 2, .asks = {{"nvidia.com/gpu", 1}}}}};
    runs.meta.annotations.set(names::kAdmittedAnnotation, encode_admission(record));
    add(runs);
  }
  Explanation why(const Pod& pod) {
    add(pod);
    return explain_pod(Snapshot{cluster, answers, settings, now}, pod, no_clues());
  }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now = *parse_time("2026-11-21T12:00:00Z");
};

TEST_F(UncoveredWhy, NamesWhatTheGangWasAdmittedWith) {
  run();
  Pod pod = member("g1", 8);
  pod.shape.edit()->scheduling_gates = {names::kQueueGate};
  const Explanation told = why(pod);
  EXPECT_EQ(told.reason, "ExceedsAdmission");
  EXPECT_EQ(told.message,
            "it is gated, and waits in queue vision: asks for 8 nvidia.com/gpu, and its gang was "
            "admitted with 2 pods of 1 nvidia.com/gpu, of which 1 is released; ask for no more, or "
            "delete all pods of the gang, and it queues again");
  EXPECT_FALSE(told.remedies.empty());
}

TEST_F(UncoveredWhy, SaysThatALaterBerthAdmittedIt) {
  run(queue::kRecordVersion + 1);
  Pod pod = member("g1", 1);
  pod.shape.edit()->scheduling_gates = {names::kQueueGate};
  EXPECT_THAT(why(pod).facts,
              Contains(Field("message", &Explanation::Fact::message,
                             StartsWith("a later berth has recorded its admission, with version 2; "
                                        "this one knows 1 and leaves it alone"))));
}

}  // namespace
}  // namespace berth
