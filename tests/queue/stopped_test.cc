// SPDX-License-Identifier: Apache-2.0
// While berth is stopped, queues preempt, drain and reclaim no workload, and admit what fits.
#include "controller/queue/recall/displaced.h"
#include "controller/queue/status/reconcile.h"
#include "tests/queue/admitted_fixture.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr char kLent[] = "Job/b/lent";
constexpr char kTrain[] = "Job/a/train";

// "vision" reclaims its sixteen GPUs, of which "nlp" has borrowed some.
class StoppedQueueTest : public AdmittedTest {
 protected:
  StoppedQueueTest() {
    add(namespace_of("b", "nlp")), add(queue_of("nlp", 0));
    GPUQueue vision = queue_of("vision", 16);
    vision.spec.preemption.reclaim_within_cohort = ReclaimWithinCohort::kAny;
    add(vision);
  }
  void stop(Operations operations = Operations::kStopped) {
    GPUClusterPolicy policy = policy_with("training");
    policy.spec.operations = operations;
    policy.meta.annotations.set(names::kStopAnnotation, "incident 4711");
    add(policy);
  }
  void resume() { stop(Operations::kNormal); }
  // A pod with eight GPUs on each of the nodes.
  void lend(const std::vector<std::string>& nodes) {
    const auto pods = static_cast<std::int64_t>(nodes.size());
    berth::Job job = job_of("b", "lent", 8);
    job.suspended = false, job.active = pods;
    job.parallelism = job.completions.emplace() = pods;
    job.meta.annotations.set(names::kAdmittedAnnotation,
                             encode_admission({.uid = "lent",
                                               .queue = "nlp",
                                               .cohort = "research",
                                               .pool = "training",
                                               .pods = pods,
                                               .amounts = {{"nvidia.com/gpu", 8 * pods}},
                                               .since = (now - 1h).time_since_epoch().count()}));
    add(job);
    for (const std::string& node : nodes) {
      berth::Pod pod = pod_of(job, "lent-" + node, node);
      pod.meta.namespace_ = "b";
      pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(8));
      add(pod);
    }
  }
  bool decides_nothing() { return reconcile_admissions(snapshot()).objects.empty(); }
  nlohmann::json status(const std::string& queue) {
    for (const StatusUpdate& update : reconcile_queues(snapshot()).statuses)
      if (update.object.name == queue && update.differs)
        return nlohmann::json::parse(update.body)["status"];
    return {};
  }
};

TEST_F(StoppedQueueTest, NobodyIsDisplacedUntilBerthResumes) {
  stop();
  lend({"n1", "n2"}), add(job_of("a", "train", 8));
  begin();
  EXPECT_TRUE(decides_nothing());
  resume();
  decide();
  EXPECT_THAT(in_flight(), ElementsAre(kTrain));
  EXPECT_THAT(done(kLent), ElementsAre("mergepatch lent"));
}

TEST_F(StoppedQueueTest, TheQueueSaysThatItIsTheStop) {
  stop();
  lend({"n1", "n2"}), add(job_of("a", "train", 8));
  begin();
  EXPECT_THAT(status("vision")["pending"].at(0)["message"].get<std::string>(),
              HasSubstr("; Job/b/lent can't be taken back: berth is stopped"));
  EXPECT_THAT(status("vision")["conditions"].dump(), HasSubstr(R"("type":"Stopped")"));
  resume();
  EXPECT_THAT(status("vision")["conditions"].dump(), Not(HasSubstr("Stopped")));
}

TEST_F(StoppedQueueTest, ADisplacementThatHasNotBegunIsWithdrawn) {
  lend({"n1", "n2"}), add(job_of("a", "train", 8));
  begin(), decide();
  EXPECT_THAT(done(kLent), ElementsAre("mergepatch lent"));
  stop();
  EXPECT_EQ(plan(kLent), Plan());
  now += 61s;
  decide();
  EXPECT_THAT(in_flight(), IsEmpty());
  EXPECT_TRUE(decides_nothing());
}

TEST_F(StoppedQueueTest, WhoWaitsForADisplacedOneThatHasGoneIsReleased) {
  lend({"n1", "n2"}), add(job_of("a", "train", 8));
  begin(), decide();
  berth::Job lent = *cluster.jobs().find("b", "lent");
  lent.suspended = true;
  add(lent);
  stop();
  cluster.erase<berth::Pod>("b", "lent-n1"), cluster.erase<berth::Pod>("b", "lent-n2");
  decide();
  EXPECT_EQ(body_of(reconcile_release(snapshot(), kTrain))["spec"]["suspend"], false);
}

TEST_F(StoppedQueueTest, WhatFitsIsAdmittedAndReleased) {
  stop();
  lend({"n1"}), add(job_of("a", "train", 8));
  begin(), decide();
  EXPECT_THAT(in_flight(), ElementsAre(kTrain));
  EXPECT_EQ(body_of(reconcile_release(snapshot(), kTrain))["spec"]["suspend"], false);
}

TEST_F(StoppedQueueTest, FreeGpusAreStillBorrowed) {
  stop();
  add(job_of("b", "borrows", 8));
  begin(), decide();
  EXPECT_THAT(in_flight(), ElementsAre("Job/b/borrows"));
}

TEST_F(StoppedQueueTest, AQueueThatDrainsWaits) {
  add(job());
  begin();
  GPUQueue vision = queue_of("vision", 16);
  vision.spec.stop_policy = StopPolicy::kHoldAndDrain;
  add(vision);
  EXPECT_THAT(done(kTrain), ElementsAre("mergepatch train"));
  stop();
  EXPECT_EQ(plan(kTrain), Plan());
}

TEST_F(StoppedQueueTest, AGangThatBudgetsKeepIsNotDeleted) {
  for (const char* name : {"m0", "m1"}) {
    berth::Pod pod = member_of(name, "");
    pod.meta.namespace_ = "b";
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(8));
    pod.node_name = name[1] == '0' ? "n1" : "n2", pod.phase = PodPhase::kRunning;
    pod.meta.annotations.set(names::kAdmittedAnnotation,
                             encode_admission({.uid = name,
                                               .queue = "nlp",
                                               .cohort = "research",
                                               .pool = "training",
                                               .pods = 2,
                                               .amounts = {{"nvidia.com/gpu", 16}},
                                               .since = (now - 1h).time_since_epoch().count()}));
    add(pod);
    const berth::Pod& stands = *cluster.pods().find("b", name);
    answers.put(question(Ask{ref_of(stands), stands.meta.resource_version}),
                {.yes = false,
                 .error = {ErrorKind::kThrottled, "the budget is used up"},
                 .against = stands.meta.resource_version,
                 .at = now});
  }
  add(job_of("a", "train", 8));
  begin();
  stop();
  EXPECT_TRUE(decides_nothing()) << "not even late";
  resume();
  decide();
  EXPECT_THAT(in_flight(), ElementsAre(kTrain));
  now += 10min;
  EXPECT_THAT(done("PodGroup/b/gang"), ElementsAre("delete m0", "delete m1"));
  stop();
  EXPECT_THAT(done("PodGroup/b/gang"), IsEmpty());
}

}  // namespace
}  // namespace berth::queue
