// SPDX-License-Identifier: Apache-2.0
// Nodes that a cloud provider or an autoscaler is about to remove: no workload starts there, and
// berth requeues running Jobs at once.
#include "controller/queue/recall/stranded.h"

#include "tests/queue/admitted_fixture.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kNotice[] = "aws-node-termination-handler/spot-itn";
constexpr char kRisk[] = "aws-node-termination-handler/rebalance-recommendation";

class StrandedTest : public AdmittedTest {
 protected:
  // A Job that runs on n1 and n2.
  void start_job() {
    add(job());
    add(pod_of(job(), "train-0", "n1")), add(pod_of(job(), "train-1", "n2"));
  }
  static Node going(const std::string& name, const char* taint = kNotice) {
    Node node = node_of(name, 8);
    node.taints.push_back({taint, "", "NoSchedule"});
    return node;
  }
  // The keys that the change of the node makes due.
  std::vector<std::string> due_by(const Node& now_) {
    const Node old = *cluster.nodes().find(now_.meta.name);
    add(now_);
    return queue_keys_for(cluster, settings, &old, cluster.nodes().find(now_.meta.name));
  }
  std::vector<std::string> asked(const std::string& workload) {
    std::vector<std::string> pods;
    for (const ObjectSteps& object : plan(workload).objects)
      for (const Step& step : object.steps)
        if (const auto* ask = std::get_if<Ask>(&step)) pods.push_back(ask->pod.name);
    return pods;
  }
  std::string reason(const std::string& workload) {
    const Plan made = plan(workload);
    return made.objects.empty() ? "" : std::get<Write>(made.objects[0].steps.back()).reason;
  }
};

TEST_F(StrandedTest, AJobIsTakenBackAtOnceWhenOneOfItsNodesIsAboutToGo) {
  start_job();
  EXPECT_THAT(done("Job/a/train"), IsEmpty());
  EXPECT_THAT(due(), Not(Contains("requeue/Job/a/train")));
  EXPECT_THAT(due_by(going("n1")), Contains("requeue/Job/a/train"));
  EXPECT_THAT(done("Job/a/train"), ElementsAre("mergepatch train"));
  EXPECT_EQ(reason("Job/a/train"),
            "node n1 is about to go (taint aws-node-termination-handler/spot-itn)");
  EXPECT_THAT(asked("Job/a/train"), ElementsAre("train-1")) << "the others are gone anyway";
  EXPECT_THAT(due(), Contains("requeue/Job/a/train")) << "also by a leader that finds it so";
}

TEST_F(StrandedTest, NothingBeginsThereAndAnAdmissionOnItsWayIsGivenUp) {
  add(going("n1")), add(going("n2", kRisk));
  begin(), add(gated("web", 4));
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty());
  add(node_of("n2", 8)), decide();
  ASSERT_THAT(in_flight(), ElementsAre("Pod/a/web"));
  EXPECT_FALSE(reconcile_release(snapshot(), "Pod/a/web").objects.empty());
  add(going("n2"));
  EXPECT_TRUE(reconcile_release(snapshot(), "Pod/a/web").objects.empty());
}

// The provider may never give notice.
TEST_F(StrandedTest, WhatRunsWhereACloudThinksOfANoticeRunsOn) {
  start_job();
  EXPECT_THAT(due_by(going("n1", kRisk)), Not(Contains("requeue/Job/a/train")));
  EXPECT_THAT(done("Job/a/train"), IsEmpty());
}

TEST_F(StrandedTest, AJobIsTakenBackWhenOneOfItsNodesIsGone) {
  start_job();
  const Node old = *cluster.nodes().find("n1");
  cluster.erase<Node>("", "n1");
  EXPECT_THAT(queue_keys_for(cluster, settings, &old, static_cast<const Node*>(nullptr)),
              Contains("requeue/Job/a/train"));
  EXPECT_THAT(done("Job/a/train"), ElementsAre("mergepatch train"));
  EXPECT_EQ(reason("Job/a/train"), "node n1 is gone");
}

// kube-scheduler may know a node before berth does.
TEST_F(StrandedTest, ANodeThatNoQueueHasChosenAndThatIsNotThereMayBeNew) {
  berth::Job made = job();
  note(made.meta, "train", {}, 8);
  add(made), add(pod_of(made, "train-0", "n3"));
  EXPECT_THAT(done("Job/a/train"), IsEmpty());
}

TEST_F(StrandedTest, APodThatIsBoundToANodeThatGoesMakesItsJobDue) {
  add(job()), add(going("n1"));
  const berth::Pod late = pod_of(job(), "train-0", "n1");
  add(late);
  EXPECT_THAT(queue_keys_for(cluster, settings, static_cast<const berth::Pod*>(nullptr), &late),
              Contains("requeue/Job/a/train"));
}

// Watches of different kinds are independent.
TEST_F(StrandedTest, AJobThatIsToldOfAfterItsNodeIsDueThen) {
  berth::Job early = job();
  early.suspended = true;
  add(early), add(pod_of(job(), "train-0", "n1")), add(going("n1"));
  EXPECT_THAT(done("Job/a/train"), IsEmpty());
  const berth::Job now_ = job();
  add(now_);
  EXPECT_THAT(queue_keys_for(cluster, settings, &early, &now_), Contains("requeue/Job/a/train"));
}

TEST_F(StrandedTest, AJobThatWaitsForANodeThatGoesWaitsNoLonger) {
  add(job());
  add(pod_of(job(), "train-0")), add(pod_of(job(), "train-1", "n2"));
  EXPECT_THAT(due_by(going("n1")), Contains("requeue/Job/a/train"));
  EXPECT_THAT(done("Job/a/train"), ElementsAre("mergepatch train"));
}

// kube-scheduler would bind them there again, and berth would requeue them again.
TEST_F(StrandedTest, WhatTheSchedulerWouldPutThereAgainStays) {
  berth::Job made = job();
  note(made.meta, "train", {}, 8);
  berth::Pod pod = pod_of(made, "train-0", "n1");
  add(made), add(pod), add(going("n1"));
  EXPECT_THAT(done("Job/a/train"), ElementsAre("mergepatch train"));
  pod.shape.edit()->tolerations = {{.key = "", .op = "Exists", .value = "", .effect = ""}};
  add(pod);
  EXPECT_THAT(done("Job/a/train"), IsEmpty());
  EXPECT_EQ(stranded(cluster, *snapshot().cluster.view<ClusterIndex>().facts().find("Job/a/train"))
                ->stays,
            "pod train-0 tolerates the taint");
}

TEST_F(StrandedTest, BudgetsOfItsOtherPodsHoldAJobWhereItIs) {
  start_job(), add(going("n1"));
  PodDisruptionBudget budget;
  budget.meta.namespace_ = "a";
  budget.meta.name = budget.meta.uid = "keep";
  budget.selector.emplace();
  budget.current_healthy = 2, budget.desired_healthy = 2;
  add(budget);
  EXPECT_THAT(done("Job/a/train"), IsEmpty());
  budget.desired_healthy = 1;
  add(budget);
  EXPECT_THAT(done("Job/a/train"), ElementsAre("mergepatch train")) << "the pod on n1 goes anyway";
}

TEST_F(StrandedTest, WhatItsQueueWouldNotLetGoAgainStays) {
  start_job(), add(going("n1"));
  GPUQueue held = queue_of("vision", 16);
  held.spec.stop_policy = StopPolicy::kHold;
  add(held);
  EXPECT_THAT(done("Job/a/train"), IsEmpty());
}

TEST_F(StrandedTest, SinglePodsAreLeftToWhoeverDrainsTheNode) {
  bind(released("web", "n1"), "n1");
  add(going("n1"));
  EXPECT_EQ(plan("Pod/a/web"), Plan());
}

}  // namespace
}  // namespace berth::queue
