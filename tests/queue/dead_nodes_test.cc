// SPDX-License-Identifier: Apache-2.0
// Pods that can't leave a node that is not ready: berth marks them as lost, counts them for
// nothing, has their Jobs replace them, and deletes by force what is safe to delete.
#include "controller/queue/index/dead_nodes.h"

#include "apis/base/reasons.h"
#include "controller/queue/index/cluster_index.h"
#include "tests/queue/admitted_fixture.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

// Job train runs a pod on n1 and one on n2. Node n2 is not ready, and its pod terminates: its grace
// period ends now.
class DeadNodesTest : public AdmittedTest {
 protected:
  DeadNodesTest() {
    berth::Job train = job();
    train.active = 2, train.replaces_ended_only = true;
    add(train), add(pod_of(train, "train-0", "n1")), add(leaving());
    set_ready("n2", false);
  }
  berth::Pod leaving() {
    berth::Pod pod = pod_of(job(), "train-1", "n2");
    pod.meta.deletion_timestamp = now;
    return pod;
  }
  void set_ready(const std::string& name, bool ready) {
    Node node = node_of(name, 8);
    node.ready = ready;
    add(node);
  }
  Plan look() { return reconcile_dead_node(snapshot(), "n2"); }
  std::vector<std::string> writes() {
    std::vector<std::string> out;
    for (const ObjectSteps& object : look().objects)
      for (const Step& step : object.steps)
        if (const auto* write = std::get_if<Write>(&step))
          out.push_back(std::string(to_string(write->verb)) + " " + write->object.name);
    return out;
  }
  void mark(bool safe = false) {
    berth::Pod pod = leaving();
    pod.meta.deletion_timestamp = now - 1min;
    pod.meta.annotations.set(names::kOnDeadNodeSinceAnnotation, format_time(now));
    if (safe) pod.meta.annotations.set(names::kSafeToForceDeleteAnnotation, "true");
    add(pod);
  }
  const Workload& train() { return *cluster.view<ClusterIndex>().facts().find("Job/a/train"); }
};

TEST_F(DeadNodesTest, AMinuteAfterItsGracePeriodThePodIsMarked) {
  EXPECT_THAT(due(), Contains("dead-node/n2"));
  EXPECT_THAT(writes(), IsEmpty());
  EXPECT_EQ(look().requeue_after, 1min);
  now += 1min;
  EXPECT_THAT(writes(), ElementsAre("mergepatch train-1"));
  EXPECT_EQ(body_of(look())["metadata"]["annotations"][names::kOnDeadNodeSinceAnnotation],
            format_time(now));
  ASSERT_THAT(look().events, SizeIs(1));
  EXPECT_EQ(look().events[0].reason, reasons::kPodsOnDeadNode);
  EXPECT_EQ(look().events[0].regarding.str(), "Job/a/train");
  EXPECT_THAT(look().events[0].note, HasSubstr("kubectl delete node n2"));
}

TEST_F(DeadNodesTest, TimeBeforeThisLeaderDoesNotCount) {
  now += 1h;
  attention.since = now;
  EXPECT_THAT(writes(), IsEmpty());
  EXPECT_EQ(look().requeue_after, 1min);
}

TEST_F(DeadNodesTest, APodThatNoQueueAdmittedIsLeftAlone) {
  berth::Pod pod = leaving();
  pod.meta.annotations.erase(names::kAdmittedAnnotation);
  add(pod);
  now += 1h;
  EXPECT_EQ(look(), Plan());
}

TEST_F(DeadNodesTest, BerthMarksNothingWhileItIsStopped) {
  Namespace own;
  own.meta.name = settings.berth_namespace;
  own.meta.annotations.set(names::kStopAnnotation, "upgrade");
  add(own);
  now += 1h;
  EXPECT_EQ(look(), Plan());
}

TEST_F(DeadNodesTest, ALostPodIsNoPodOfItsJob) {
  ASSERT_THAT(train().pods->all, SizeIs(2));
  mark();
  EXPECT_THAT(train().pods->all, SizeIs(1));
}

TEST_F(DeadNodesTest, AMarkFromBeforeTheEndOfTheGracePeriodIsNotBelieved) {
  berth::Pod pod = leaving();
  pod.meta.annotations.set(names::kOnDeadNodeSinceAnnotation, format_time(now - 1s));
  add(pod);
  EXPECT_THAT(train().pods->all, SizeIs(2));
}

TEST_F(DeadNodesTest, ItsJobReplacesTheLostPod) {
  mark();
  EXPECT_THAT(writes(), ElementsAre("mergepatch train"));
  EXPECT_EQ(body_of(look())["spec"], R"({"podReplacementPolicy":"TerminatingOrFailed"})"_json);
  berth::Job replaces = job();
  replaces.active = 2;
  add(replaces);
  EXPECT_THAT(writes(), IsEmpty()) << "it does so already";
}

TEST_F(DeadNodesTest, AJobWithAFailurePolicyCannotReplaceIt) {
  berth::Job strict = job();
  strict.active = 1, strict.terminating = 1;
  strict.replaces_ended_only = strict.has_failure_policy = true;
  add(strict), mark();
  EXPECT_THAT(writes(), IsEmpty());
}

TEST_F(DeadNodesTest, ASuspendedJobDoesNotWaitForALostPod) {
  berth::Job suspended = job();
  suspended.suspended = suspended.has_been_suspended = true;
  suspended.terminating = 1;
  add(suspended), cluster.erase<berth::Pod>("a", "train-0");
  EXPECT_EQ(train().standing.unready, Unready::kTemplateNotReady);
  mark();
  EXPECT_EQ(train().standing.unready, Unready::kNo);
  suspended.has_failure_policy = true;
  add(suspended);
  EXPECT_EQ(train().standing.unready, Unready::kPodsOnDeadNode);
}

TEST_F(DeadNodesTest, APodWhoseNodeComesBackCountsAgainUntilItIsGone) {
  mark();
  set_ready("n2", true);
  EXPECT_THAT(due(), Contains("dead-node/n2"));
  EXPECT_THAT(writes(), ElementsAre("mergepatch train-1"));
  EXPECT_TRUE(
      body_of(look())["metadata"]["annotations"][names::kOnDeadNodeSinceAnnotation].is_null());
}

TEST_F(DeadNodesTest, AHealthyNodeIsNotLookedAt) {
  set_ready("n2", true);
  EXPECT_THAT(due(), Not(Contains("dead-node/n2")));
  EXPECT_EQ(look(), Plan());
}

// --- deletion by force ---

class ForceDeleteTest : public DeadNodesTest {
 protected:
  void allow(Duration after) {
    GPUQueue queue = queue_of("vision", 16);
    queue.spec.force_delete_after = after;
    add(queue);
  }
};

TEST_F(ForceDeleteTest, BothTheQueueAndThePodHaveToAllowIt) {
  mark(true);
  now += 24h;
  EXPECT_THAT(writes(), Not(Contains("delete train-1"))) << "its queue says nothing";
  allow(10min), mark(false);
  now += 24h;
  EXPECT_THAT(writes(), Not(Contains("delete train-1"))) << "the pod says nothing";
}

TEST_F(ForceDeleteTest, AfterItsTimeThePodFailsByADisruptionAndGoes) {
  allow(10min), mark(true);
  EXPECT_EQ(look().requeue_after, 10min);
  now += 10min;
  EXPECT_THAT(writes(), ElementsAre("mergepatch train", "statuspatch train-1", "delete train-1"));
  const Plan plan = look();
  const auto& steps = plan.objects[1].steps;
  ASSERT_THAT(steps, SizeIs(3));
  const auto status = nlohmann::json::parse(std::get<Write>(steps[1]).body)["status"];
  EXPECT_EQ(status["phase"], "Failed");
  EXPECT_EQ(status["conditions"][0]["type"], "DisruptionTarget");
  EXPECT_EQ(std::get<Write>(steps[2]).grace_period_seconds, 0);
  EXPECT_THAT(plan.events, Contains(::testing::Field(&EventNote::reason, reasons::kForceDeleted)));
}

TEST_F(ForceDeleteTest, ItsNodeIsReadLiveRightBefore) {
  allow(1min), mark(true);
  now += 1min;
  const Plan plan = look();
  const Guard& guard = std::get<Guard>(plan.objects[1].steps[0]);
  Node live = node_of("n2", 8);
  live.ready = false;
  EXPECT_EQ(guard.refuse(live, {}), std::nullopt);
  live.ready = true;
  EXPECT_EQ(guard.refuse(live, {}), "node n2 is ready again");
  EXPECT_TRUE(guard.yes_if_gone);
}

TEST_F(ForceDeleteTest, APodThatHasFailedButStandsIsStillDeleted) {
  allow(1min);
  berth::Pod pod = leaving();
  pod.meta.annotations.set(names::kOnDeadNodeSinceAnnotation, format_time(now));
  pod.meta.annotations.set(names::kSafeToForceDeleteAnnotation, "true");
  pod.phase = PodPhase::kFailed;
  add(pod);
  now += 1min;
  EXPECT_THAT(writes(), ElementsAre("delete train-1"));
  EXPECT_THAT(look().events, IsEmpty()) << "one event is enough";
}

}  // namespace
}  // namespace berth::queue
