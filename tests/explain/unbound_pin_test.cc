// SPDX-License-Identifier: Apache-2.0
// The answer of `berth why` for a pinned pod that is bound to no node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/explain/explain_pod.h"
#include "tests/queue/framework_pods.h"
#include "tests/queue/queue_objects.h"

namespace berth {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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
  // Admitted at twelve.
  static std::string record_of(const std::string& uid, std::vector<std::string> nodes) {
    return queue::encode_admission(
        {.uid = uid,
         .queue = "vision",
         .cohort = "research",
         .pool = "training",
         .since = parse_time("2026-11-21T12:00:00Z")->time_since_epoch().count(),
         .nodes = std::move(nodes)});
  }
  // Pinned to n1.
  Explanation why(const std::string& owner) {
    Pod pod;
    pod.meta.namespace_ = "ns", pod.meta.name = pod.meta.uid = "web";
    pod.shape.edit()->requests = {{"nvidia.com/gpu", Quantity::whole(1)}};
    pod.meta.annotations.set(names::kAdmittedAnnotation, record_of("web", {"n1"}));
    if (!owner.empty())
      pod.meta.owner_references = {{.kind = owner, .name = "web", .uid = "w", .controller = true}};
    add(pod);
    Snapshot snapshot{cluster, answers, settings, now};
    snapshot.attention = attention;
    return explain_pod(snapshot, pod, no_clues());
  }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Attention attention;
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

TEST_F(UnboundPin, TellsTheEndOfThePatienceOfALeaderThatCameLater) {
  now += std::chrono::minutes(15);
  attention.since = *parse_time("2026-11-21T12:14:00Z");
  EXPECT_EQ(why("ReplicaSet").reason, "AwaitsScheduler") << "this leader has waited two minutes";
  cluster.erase<Node>("", "n1");
  EXPECT_THAT(why("ReplicaSet").message,
              HasSubstr("if it is bound to none by 2026-11-21T12:19:00Z"));
}

// In a running gang, re-created members follow without a pin.
TEST_F(UnboundPin, IsToldOfThePodThatHasItAndNotOfOthersOfItsGang) {
  const auto of_ring = [](int ordinal) {
    Pod pod = queue::test::stateful_pod("ring", ordinal);
    pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "3");
    return pod;
  };
  Pod pinned = of_ring(0), let_go = of_ring(1), unnoted = of_ring(2);
  pinned.meta.annotations.set(names::kAdmittedAnnotation, record_of(pinned.meta.uid, {"n1"}));
  let_go.meta.annotations.set(names::kAdmittedAnnotation, record_of(let_go.meta.uid, {}));
  for (const Pod& pod : {pinned, let_go, unnoted}) add(pod);
  const auto facts_of = [&](const Pod& pod) {
    return explain_pod(Snapshot{cluster, answers, settings, now}, pod, no_clues()).facts;
  };
  const auto is_pinned = Contains(Field("topic", &Explanation::Fact::topic, "pin"));
  EXPECT_THAT(facts_of(pinned), is_pinned);
  EXPECT_THAT(facts_of(let_go), Not(is_pinned));
  EXPECT_THAT(facts_of(unnoted), Not(is_pinned));
}

}  // namespace
}  // namespace berth
