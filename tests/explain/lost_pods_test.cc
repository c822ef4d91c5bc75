// SPDX-License-Identifier: Apache-2.0
// The answer of `berth why` for a Job of two pods, one of which can't leave the dead node n2.
#include "apis/base/reasons.h"
#include "controller/explain/explain_node.h"
#include "controller/explain/explain_pod.h"
#include "controller/explain/explain_workload.h"
#include "controller/explain/subject.h"
#include "tests/queue/admitted_fixture.h"

namespace berth {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using Fact = Explanation::Fact;

constexpr char kWords[] =
    "pod train-1 can't leave node n2, which is not ready; once the machine is off for sure, run "
    "`kubectl delete node n2`, or `kubectl taint node n2 "
    "node.kubernetes.io/out-of-service=:NoExecute`";

auto tells(const std::string& words) {
  return Contains(AllOf(Field("topic", &Fact::topic, "lost"),
                        Field("message", &Fact::message, HasSubstr(words))));
}

class LostPods : public queue::AdmittedTest {
 protected:
  LostPods() {
    add(job());
    add(pod_of(job(), "train-0", "n1"));
    Node dead = queue::node_of("n2", 8);
    dead.ready = false;
    add(dead);
    lose();
  }
  // Its grace period ended two minutes ago, and berth marked it a minute ago.
  void lose(const char* force = "", bool marked = true) {
    Pod lost = pod_of(job(), "train-1", "n2");
    lost.meta.deletion_timestamp = now - std::chrono::minutes(2);
    if (marked)
      lost.meta.annotations.set(names::kOnDeadNodeSinceAnnotation,
                                format_time(now - std::chrono::minutes(1)));
    if (*force != '\0') lost.meta.annotations.set(names::kSafeToForceDeleteAnnotation, force);
    add(lost);
  }
  void force_after(Duration after) {
    GPUQueue queue = queue::queue_of("vision", 16);
    queue.spec.force_delete_after = after;
    add(queue);
  }
  Explanation why_pod(const std::string& name) const {
    return explain_pod(snapshot(), *cluster.pods().find("a", name), no_clues());
  }
  Explanation why_node() const {
    return explain_node(snapshot(), *cluster.nodes().find("n2"), no_clues());
  }
};

TEST_F(LostPods, AreTheAnswerOfThemselves) {
  const Explanation told = why_pod("train-1");
  EXPECT_EQ(told.state, "Terminating");
  EXPECT_EQ(told.reason, reasons::kPodsOnDeadNode);
  EXPECT_EQ(told.message, kWords);
  EXPECT_THAT(told.facts, tells("since 2026-11-21T11:59:00Z no queue charges it"));
  EXPECT_THAT(told.facts, Not(tells("by force"))) << "its queue deletes none";
}

TEST_F(LostPods, AreToldOfTheOthersOfTheirJob) {
  EXPECT_THAT(why_pod("train-0").facts, tells(kWords));
}

TEST_F(LostPods, AreToldOfTheirSuspendedJobWhichIsAskedAboutByItsName) {
  cluster.erase<Pod>("a", "train-0");
  Job waiting = queue::job_of("a", "train", 4);
  add(waiting);
  const Result<SubjectName> name = parse_subject({"job/train"}, "a");
  ASSERT_TRUE(name.has_value());
  const Result<Subject> found = find_subject(cluster, no_clues(), *name);
  ASSERT_TRUE(found.has_value());
  ASSERT_TRUE(found->workload) << "and not about the pod that it has left";
  EXPECT_THAT(explain_workload(snapshot(), *found->workload, no_clues()).facts, tells(kWords));
}

TEST_F(LostPods, AreDeletedByForceWhereQueueAndPodAllowIt) {
  force_after(std::chrono::minutes(10));
  EXPECT_THAT(why_pod("train-1").facts,
              tells("queue vision deletes by force only pods with annotation "
                    "gpu.berth.dev/safe-to-force-delete: \"true\""));
  lose("true");
  EXPECT_THAT(why_pod("train-1").facts,
              tells("queue vision deletes it by force at 2026-11-21T12:09:00Z"));
  attention.since = now + std::chrono::minutes(2);
  EXPECT_THAT(why_pod("train-1").facts, tells("by force at 2026-11-21T12:12:00Z"))
      << "the leader came later";
}

TEST_F(LostPods, AreListedOfTheirNodeWithTheCommand) {
  const Explanation told = why_node();
  EXPECT_THAT(told.facts, tells("can't leave it while it is not ready: a/train-1"));
  ASSERT_FALSE(told.remedies.empty());
  EXPECT_EQ(told.remedies.front().line, "kubectl delete node n2");
}

TEST_F(LostPods, AreNoneBeforeTheirMark) {
  lose("", /*marked=*/false);
  EXPECT_THAT(why_node().facts, Not(tells("can't leave it")));
  EXPECT_THAT(why_node().facts,
              Contains(Field("message", &Fact::message,
                             HasSubstr("terminating, and not yet taken for lost: a/train-1"))));
  EXPECT_EQ(why_pod("train-1").reason, "");
}

}  // namespace
}  // namespace berth
