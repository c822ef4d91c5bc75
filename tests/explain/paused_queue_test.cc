// SPDX-License-Identifier: Apache-2.0
// The answer of `berth why` for a workload in a queue that admits nothing, by its condition, or
// that does not exist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/explain/explain_pod.h"
#include "tests/queue/queue_objects.h"

namespace berth {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::Not;

class PausedQueue : public ::testing::Test {
 protected:
  PausedQueue() {
    add(queue::policy_with("training")), add(queue::node_of("n1", 8));
    add(queue::namespace_of("ns", "vision"));
    say("True");
  }
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  void say(const char* status) {
    GPUQueue vision = queue::queue_of("vision", 8);
    vision.status.conditions = {
        {"AdmissionsPaused", status, "WatchBehind", "nobody is admitted", 1, now}};
    add(vision);
  }
  Explanation why(int gpus, const char* queue = nullptr) {
    Pod pod;
    if (queue != nullptr) pod.meta.labels.set(names::kQueueLabel, queue);
    pod.meta.name = pod.meta.uid = "train", pod.meta.namespace_ = "ns";
    pod.shape.edit()->requests = {{"nvidia.com/gpu", Quantity::whole(gpus)}};
    pod.shape.edit()->scheduling_gates = {names::kQueueGate};
    add(pod);
    return explain_pod(Snapshot{cluster, answers, settings, now}, pod, no_clues());
  }
  static auto is_noted() {
    return Contains(Field("message", &Explanation::Fact::message, "nobody is admitted"));
  }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now = *parse_time("2026-11-21T12:00:00Z");
};

TEST_F(PausedQueue, IsTheAnswerOfWhoWouldBeNext) {
  const Explanation next = why(1);
  EXPECT_EQ(next.reason, "WatchBehind");
  EXPECT_EQ(next.message, "it is gated, and waits in queue vision: nobody is admitted");
  EXPECT_THAT(next.facts, Not(is_noted())) << "told once";
  say("False");
  EXPECT_EQ(why(1).reason, "Admissible");
}

TEST_F(PausedQueue, IsToldBesideWhatElseKeepsIt) {
  const Explanation large = why(16);  // with a quota of eight
  EXPECT_THAT(large.reason, Not(AnyOf("WatchBehind", "Admissible"))) << large.message;
  EXPECT_THAT(large.facts, is_noted());
}

TEST_F(PausedQueue, ThatWasDeletedIsTheAnswerAlsoWhereNoQueueIsLeft) {
  cluster.erase<GPUQueue>("", "vision");
  const Explanation stranded = why(1, "vision");
  EXPECT_EQ(stranded.reason, "QueueNotFound");
  EXPECT_EQ(stranded.message,
            "it is gated, and waits in queue vision: the queue that it names does not exist");
  EXPECT_NE(why(1).reason, "QueueNotFound") << "it names none";
}

}  // namespace
}  // namespace berth
