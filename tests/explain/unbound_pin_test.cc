// SPDX-License-Identifier: Apache-2.0
// What `berth why` says of a pod that is pinned and bound to no node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/explain/explain_pod.h"
#include "tests/queue/queue_objects.h"

namespace berth {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class UnboundPin : public ::testing::Test {
 protected:
  UnboundPin() {
    add(queue::policy_with("training")), add(queue::node_of("n1", 8));
    add(queue::namespace_of("ns", "vision")), add(queue::queue_of("vision", 8));
  }
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  // Pinned to n1 at twelve.
  Explanation why(const std::string& owner) {
    Pod pod;
    pod.meta.namespace_ = "ns", pod.meta.name = pod.meta.uid = "web";
    pod.shape.edit()->requests = {{"nvidia.com/gpu", Quantity::whole(1)}};
    const queue::AdmissionFact record{
        .uid = "web",
        .queue = "vision",
        .cohort = "research",
        .pool = "training",
        .since = parse_time("2026-11-21T12:00:00Z")->time_since_epoch().count(),
        .nodes = {"n1"}};
    pod.meta.annotations.set(names::kAdmittedAnnotation, queue::encode_admission(record));
    if (!owner.empty())
      pod.meta.owner_references = {{.kind = owner, .name = "web", .uid = "w", .controller = true}};
    add(pod);
    return explain_pod(Snapshot{cluster, answers, settings, now}, pod, no_clues());
  }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now = *parse_time("2026-11-21T12:01:00Z");
};

TEST_F(UnboundPin, IsAFactWhileTheSchedulerHasTime) {
  const Explanation told = why("ReplicaSet");
  EXPECT_EQ(told.reason, "AwaitsScheduler") << told.message;
  EXPECT_THAT(told.facts, Contains(Field("message", &Explanation::Fact::message,
                                         HasSubstr("queue vision has pinned it to node n1 since "
                                                   "2026-11-21T12:00:00Z"))));
}

TEST_F(UnboundPin, IsTheAnswerOnceItsTimeIsOver) {
  now += std::chrono::minutes(5);
  const Explanation told = why("ReplicaSet");
  EXPECT_EQ(told.reason, "PinBlocked");
  EXPECT_THAT(told.message, HasSubstr("; berth leaves it so: its nodes are in service"));
}

TEST_F(UnboundPin, SaysWhatIsDoneAboutALostNodeAndWhen) {
  cluster.erase<Node>("", "n1");
  const Explanation told = why("ReplicaSet");
  EXPECT_EQ(told.reason, "PinBlocked");
  EXPECT_EQ(told.message,
            "queue vision has pinned it to node n1 since 2026-11-21T12:00:00Z, and node n1 is "
            "gone; if it is bound to none by 2026-11-21T12:05:00Z, it is evicted, and the one made "
            "anew waits again");
  EXPECT_THAT(told.remedies, IsEmpty()) << "nothing in its template would help";
  EXPECT_THAT(why("").message, HasSubstr("berth leaves it so: nobody would make pod web anew"));
}

}  // namespace
}  // namespace berth
