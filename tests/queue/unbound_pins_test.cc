// SPDX-License-Identifier: Apache-2.0
// Pinned pods that kube-scheduler binds to no node: which ones berth requeues, when, and what it
// reports about the others.
#include "controller/queue/recall/unbound_pins.h"

#include "controller/queue/status/queue_figures.h"
#include "controller/queue/status/reconcile.h"
#include "tests/queue/admitted_fixture.h"

namespace berth::queue {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class UnboundPinsTest : public AdmittedTest {
 protected:
  std::string blocked() {
    const BlockedPins pins = find_blocked_pins(snapshot());
    const auto found = pins.by_queue.find("vision");
    return found == pins.by_queue.end() ? "" : found->second.message;
  }
  // As a Job's template pins it, unless the webhook takes the pin away.
  static berth::Pod pinned(berth::Pod pod) {
    pod.shape.edit()->required_node_affinity = {
        {.match_expressions = {
             {.key = names::kHostnameLabel, .op = SelectorOperator::kIn, .values = {"n1", "n2"}}}}};
    return pod;
  }
  double unbound() {
    for (const Figure& figure : queue_figures(cluster))
      if (figure.name == "berth_queue_pins_unbound") return figure.samples.at(0).value;
    return -1;
  }
};

// --- pods ---

TEST_F(UnboundPinsTest, APodWhoseNodeIsGoneIsEvictedAfterTheTimeoutAndNotBefore) {
  add(released("web", "n1"));
  EXPECT_THAT(due(), Contains("requeue/Pod/a/web")) << "also by a leader that finds it so";
  cluster.erase<Node>("", "n1");
  EXPECT_THAT(done("Pod/a/web"), IsEmpty());
  EXPECT_EQ(plan("Pod/a/web").requeue_after, 5min);
  EXPECT_EQ(unbound(), 1);
  now += 4min + 59s;
  EXPECT_THAT(done("Pod/a/web"), IsEmpty());
  EXPECT_EQ(plan("Pod/a/web").requeue_after, 1s);
  now += 1s;
  EXPECT_THAT(done("Pod/a/web"), ElementsAre("evict web"));
  EXPECT_EQ(blocked(), "");
}

TEST_F(UnboundPinsTest, TheQueueSaysHowLong) {
  GPUQueue queue = queue_of("vision", 16);
  queue.spec.placement_timeout = 30s;
  add(queue), add(released("web", "n1")), take_out("n1");
  EXPECT_EQ(plan("Pod/a/web").requeue_after, 30s);
  now += 30s;
  EXPECT_THAT(done("Pod/a/web"), ElementsAre("evict web"));
}

TEST_F(UnboundPinsTest, WhatIsBoundOrUnpinnedOrBehindItsGateIsLeftAlone) {
  bind(released("bound", "n1"), "n1");
  add(released("free", ""));
  add(gated("waits", 4));
  take_out("n1");
  now += 1h;
  for (const char* pod : {"Pod/a/bound", "Pod/a/free", "Pod/a/waits"}) {
    EXPECT_EQ(plan(pod), Plan()) << pod;
    EXPECT_THAT(due(), Not(Contains(std::string("requeue/") + pod)));
  }
  EXPECT_EQ(unbound(), 0);
}

// Decided again, it would be pinned there again, and so on forever.
TEST_F(UnboundPinsTest, APodWhoseNodeCouldHaveItStaysAndIsTold) {
  add(released("web", "n1"));
  now += 5min;
  EXPECT_THAT(done("Pod/a/web"), IsEmpty());
  EXPECT_EQ(plan("Pod/a/web").requeue_after, 1min) << "its node may be lost yet";
  EXPECT_THAT(blocked(), AllOf(HasSubstr("1 workload has not been bound"),
                               HasSubstr("Pod/a/web (1 pod: its nodes are in service")));
}

TEST_F(UnboundPinsTest, APodWhoseNodeOthersHaveFilledIsEvicted) {
  add(released("web", "n1"));
  berth::Pod other = gated("other", 6);  // around the queue
  other.meta.namespace_ = "b";
  other.shape.edit()->scheduling_gates.clear();
  bind(other, "n1");
  now += 5min;
  EXPECT_THAT(done("Pod/a/web"), ElementsAre("evict web"));
}

TEST_F(UnboundPinsTest, APodThatItsNodeHasATaintAgainstIsEvicted) {
  add(released("web", "n1"));
  Node node = node_of("n1", 8);
  node.taints = {{"example.com/maintenance", "", "NoSchedule"}};
  add(node);
  now += 5min;
  EXPECT_THAT(done("Pod/a/web"), ElementsAre("evict web"));
}

TEST_F(UnboundPinsTest, APodThatNobodyWouldMakeAnewIsNeverDeleted) {
  add(released("bare", "n1", ""));
  cluster.erase<Node>("", "n1");
  now += 24h;
  EXPECT_THAT(done("Pod/a/bare"), IsEmpty());
  EXPECT_THAT(blocked(), HasSubstr("Pod/a/bare (1 pod, node n1 is gone: nobody would make pod "
                                   "bare anew)"));
}

TEST_F(UnboundPinsTest, APodThatSomebodyElseHoldsAtTheirGateIsNotLate) {
  berth::Pod pod = released("web", "n1");
  pod.shape.edit()->scheduling_gates = {"example.com/other"};
  add(pod);
  now += 1h;
  EXPECT_THAT(blocked(), HasSubstr("somebody else's gate holds pod web"));
  take_out("n1");
  EXPECT_THAT(done("Pod/a/web"), IsEmpty());
}

TEST_F(UnboundPinsTest, WhatItsQueueWouldNotLetGoAgainStays) {
  GPUQueue queue = queue_of("vision", 16);
  queue.spec.stop_policy = StopPolicy::kHold;
  add(queue), add(released("web", "n1")), take_out("n1");
  now += 1h;
  EXPECT_THAT(done("Pod/a/web"), IsEmpty());
  EXPECT_THAT(blocked(), HasSubstr("its queue would not let it go again"));
}

// An eviction counts as a failure of a Job with another controller, for example a JobSet.
TEST_F(UnboundPinsTest, APodOfAJobIsEvictedOnlyIfTheJobSurvivesIt) {
  berth::Job owner = job_of("a", "web", 4);
  owner.meta.owner_references = {{.kind = "JobSet", .name = "s", .uid = "s", .controller = true}};
  owner.suspended = false;
  owner.backoff_limit = 0;
  add(owner), add(released("web-0", "n1", "Job")), take_out("n1");
  now += 5min;
  EXPECT_THAT(done("Pod/a/web-0"), IsEmpty());
  EXPECT_THAT(blocked(), HasSubstr("Job web would fail of the eviction"));
  owner.ignores_disruptions = true;
  add(owner);
  EXPECT_THAT(done("Pod/a/web-0"), ElementsAre("evict web-0"));
}

// --- gangs ---

TEST_F(UnboundPinsTest, AGangThatRunsNowhereGoesWholeIfOneOfItsNodesIsLost) {
  add(member_of("m-0", "n1")), add(member_of("m-1", "n2"));
  EXPECT_EQ(unbound(), 2);
  now += 5min;
  EXPECT_THAT(done("PodGroup/a/gang"), IsEmpty());
  take_out("n2");
  EXPECT_THAT(done("PodGroup/a/gang"), ElementsAre("evict m-0", "evict m-1"));
}

TEST_F(UnboundPinsTest, AGangWithAPodThatNobodyMakesAnewStaysWhole) {
  add(member_of("m-0", "n1")), add(member_of("m-1", "n2", ""));
  take_out("n1");
  now += 5min;
  EXPECT_THAT(done("PodGroup/a/gang"), IsEmpty());
  EXPECT_THAT(blocked(), HasSubstr("PodGroup/a/gang (2 pods, node n1 is out of service: nobody "
                                   "would make pod m-1 anew)"));
}

TEST_F(UnboundPinsTest, OfAGangThatRunsOnlyTheOthersGo) {
  bind(member_of("m-0", "n1"), "n1");
  add(member_of("m-1", "n2"));
  now += 5min;
  EXPECT_THAT(done("PodGroup/a/gang"), ElementsAre("evict m-1"));

  // A re-created member follows the others without a pin, so it is never late.
  cluster.erase<berth::Pod>("a", "m-1");
  berth::Pod anew = member_of("m-2", "");
  anew.meta.annotations.erase(names::kAdmittedAnnotation);
  anew.shape.edit()->scheduling_gates = {names::kQueueGate};
  add(anew);
  epoch = 0;
  const Plan release = reconcile_release(snapshot(), "PodGroup/a/gang");
  ASSERT_THAT(release.objects, SizeIs(1));
  EXPECT_FALSE(body_of(release)["spec"].contains("affinity"));
}

// --- Jobs ---

TEST_F(UnboundPinsTest, AJobOfWhichNothingRunsIsRequeuedWhole) {
  const berth::Job train = job();
  add(train), add(pod_of(train, "t-0")), add(pod_of(train, "t-1"));
  EXPECT_EQ(plan("Job/a/train").requeue_after, 5min);
  now += 5min;
  EXPECT_THAT(done("Job/a/train"), ElementsAre("mergepatch train"));
  const nlohmann::json body = body_of(plan("Job/a/train"));
  EXPECT_EQ(body["spec"], nlohmann::json({{"suspend", true}}));
  EXPECT_TRUE(body["metadata"].contains("resourceVersion"));
}

// It may get the same nodes again: each time the wait is longer, up to eight timeouts.
TEST_F(UnboundPinsTest, AJobThatIsDecidedAnewAgainAndAgainIsLeftAloneForLonger) {
  berth::Job train = job();
  const auto time_left = [&](Duration age) {
    train.meta.creation_timestamp = now - age;
    add(train), add(pod_of(train, "t-0"));
    return plan("Job/a/train").requeue_after;
  };
  EXPECT_EQ(time_left(3min), 5min);
  EXPECT_EQ(time_left(10min), 10min);
  EXPECT_EQ(time_left(24h), 40min);
  take_out("n2");
  EXPECT_EQ(time_left(24h), 5min) << "that node it won't get";
}

TEST_F(UnboundPinsTest, AJobOfWhichSomeRunsIsLeftAloneWhileItsNodesAreInService) {
  const berth::Job train = job();
  add(train), add(pod_of(train, "t-0", "n1")), add(pod_of(train, "t-1"));
  now += 5min;
  EXPECT_THAT(done("Job/a/train"), IsEmpty());
  EXPECT_THAT(blocked(), HasSubstr("Job/a/train (1 pod: others of its pods run"));
  EXPECT_EQ(unbound(), 1);
}

TEST_F(UnboundPinsTest, AJobThatHasLostANodeIsRequeuedWithWhatRunsOnceBudgetsAllowIt) {
  const berth::Job train = job();
  add(train), add(pod_of(train, "t-0", "n1")), add(pinned(pod_of(train, "t-1")));
  PodDisruptionBudget budget;
  budget.meta.namespace_ = "a";
  budget.meta.name = budget.meta.uid = "all";
  budget.selector.emplace();
  budget.current_healthy = budget.desired_healthy = 1;
  add(budget);
  cluster.erase<Node>("", "n2");
  now += 5min;
  EXPECT_THAT(done("Job/a/train"), IsEmpty());
  EXPECT_THAT(blocked(), HasSubstr("PodDisruptionBudget all keeps others of its pods"));

  cluster.erase<PodDisruptionBudget>("a", "all");
  const Plan requeue = plan("Job/a/train");
  ASSERT_THAT(requeue.objects, SizeIs(1));
  ASSERT_THAT(requeue.objects[0].steps, SizeIs(2));
  EXPECT_EQ(std::get<Ask>(requeue.objects[0].steps[0]).pod.name, "t-0") << "the server is asked";
  EXPECT_EQ(std::get<Write>(requeue.objects[0].steps[1]).object.name, "train");
}

// The webhook has unpinned t-1. It waits for a free GPU anywhere, as it would if it were
// re-created.
TEST_F(UnboundPinsTest, AJobThatHasLostANodeKeepsWhatRunsIfKubeSchedulerPlacesTheRest) {
  const berth::Job train = job();
  add(train), add(pod_of(train, "t-0", "n1")), add(pod_of(train, "t-1"));
  take_out("n2");
  now += 5min;
  EXPECT_THAT(done("Job/a/train"), IsEmpty());
  EXPECT_THAT(blocked(), HasSubstr("kube-scheduler chooses the nodes of the rest"));
}

// The pods that replace finished ones have their own deadline.
TEST_F(UnboundPinsTest, TheNextPodOfAJobIsLateAfterItsOwnCreation) {
  const berth::Job train = job();
  take_out("n2");
  now += 1h;
  add(train), add(pod_of(train, "t-2"));
  EXPECT_EQ(plan("Job/a/train").requeue_after, 5min);
}

TEST_F(UnboundPinsTest, AJobThatSomebodyHoldsGoesAsAnyOther) {
  berth::Job train = job();
  train.meta.annotations.set(names::kHoldAnnotation, "true");
  add(train), add(pod_of(train, "t-0")), take_out("n1");
  now += 5min;
  EXPECT_THAT(done("Job/a/train"), ElementsAre("mergepatch train"));
}

// Its pods show its admission; it would be admitted a second time next to them.
TEST_F(UnboundPinsTest, AJobWhoseRecordSomebodyHasTakenAwayStays) {
  berth::Job train = job();
  const berth::Pod pod = pod_of(train, "t-0");
  train.meta.annotations.erase(names::kAdmittedAnnotation);
  add(train), add(pod), take_out("n1");
  now += 5min;
  EXPECT_THAT(done("Job/a/train"), IsEmpty());
  EXPECT_THAT(blocked(), HasSubstr("Job/a/train (1 pod, node n1 is out of service: its queue"));
}

// --- Reports ---

TEST_F(UnboundPinsTest, TheQueueTellsWhatStaysAndLooksAgainWhenTheNextMay) {
  add(released("bare", "n1", ""));
  now += 1min;
  add(released("later", "n1", ""));
  const auto told = [&] {
    const Plan statuses = reconcile_queues(snapshot());
    return statuses.statuses.at(0).body.find("PinBlocked") != std::string::npos;
  };
  EXPECT_FALSE(told());
  EXPECT_EQ(reconcile_queues(snapshot()).requeue_after, 4min);
  now += 4min;
  EXPECT_TRUE(told());
  EXPECT_EQ(reconcile_queues(snapshot()).requeue_after, 1min);
}

}  // namespace
}  // namespace berth::queue
