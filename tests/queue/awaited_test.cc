// SPDX-License-Identifier: Apache-2.0
// Admissions that wait until other workloads have left, over stores: which workloads the ledger
// names, when they are decided again, and what is reported; nothing that is being deleted is
// released.
#include "controller/queue/cycle/queue_report.h"
#include "tests/queue/admitted_fixture.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

// "vision" has sixteen GPUs: two pods with four GPUs run on each of n1 and n2.
class AwaitedTest : public AdmittedTest {
 protected:
  AwaitedTest() {
    GPUQueue vision = queue_of("vision", 16);
    vision.spec.preemption.within_queue = WithinQueue::kLowerPriority;
    add(vision);
    for (const char* node : {"n1", "n2"})
      for (const char* place : {"-a", "-b"}) bind(released(node + std::string(place), node), node);
  }
  void delete_pod(const std::string& name, Duration grace) {
    berth::Pod pod = *cluster.pods().find("a", name);
    pod.meta.deletion_timestamp = now + grace;
    add(pod);
  }
  void lose(const std::string& name) { cluster.erase<berth::Pod>("a", name); }
  std::vector<std::string> ahead_of(const std::string& uid) {
    std::vector<std::string> names;
    for (const AheadFact& ahead : read_admissions(snapshot()).entries.at(uid).ahead)
      names.push_back(ahead.workload);
    return names;
  }
};

TEST_F(AwaitedTest, TheLedgerNamesThoseWithoutWhomItDoesNotFit) {
  delete_pod("n1-a", 30s), delete_pod("n2-a", 40s);
  add(job_of("a", "train", 4));
  begin(), decide();
  EXPECT_THAT(ahead_of("train"), ElementsAre("Pod/a/n1-a"));
  EXPECT_TRUE(reconcile_release(snapshot(), "Job/a/train").empty());
}

TEST_F(AwaitedTest, ItIsWithdrawnOnceOneOfThemHangs) {
  delete_pod("n1-a", 30s), delete_pod("n1-b", 30s);
  add(job_of("a", "train", 8));
  begin(), decide();
  EXPECT_THAT(ahead_of("train"), ElementsAre("Pod/a/n1-a", "Pod/a/n1-b"));
  now += 20s;
  EXPECT_EQ(reconcile_admissions(snapshot()).requeue_after, 70s);
  now += 69s;
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty());
  now += 1s;
  decide();
  EXPECT_THAT(in_flight(), IsEmpty());
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty()) << "and not decided as before";
}

TEST_F(AwaitedTest, ItIsDecidedAgainOnceItFitsWithoutWaiting) {
  delete_pod("n1-a", 10min), delete_pod("n1-b", 10min);
  add(job_of("a", "train", 8));
  begin(), decide();
  now += 30s;
  lose("n2-a");
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty());
  lose("n2-b");
  decide();
  EXPECT_THAT(in_flight(), IsEmpty());
  decide();
  EXPECT_THAT(ahead_of("train"), IsEmpty());
  EXPECT_THAT(read_admissions(snapshot()).entries.at("train").admission.nodes, ElementsAre("n2"));
  EXPECT_EQ(body_of(reconcile_release(snapshot(), "Job/a/train"))["spec"]["suspend"], false);
}

TEST_F(AwaitedTest, TheQueueSaysWhomItWaitsFor) {
  delete_pod("n1-a", 30s);
  add(job_of("a", "train", 4));
  begin(), decide();
  const auto& facts = cluster.view<ClusterIndex>().facts();
  const Survey survey(facts, 10);
  const QueueReport& report = *survey.find("vision");
  EXPECT_EQ(report.admitted, 4) << "it does not count before it starts";
  EXPECT_EQ(report.pending, 1);
  ASSERT_EQ(report.waiting.size(), 1u);
  EXPECT_EQ(reason_of(report.waiting[0].outcome), "WaitingForOthers");
  EXPECT_EQ(describe(report.waiting[0].outcome, facts.catalog()),
            "it is admitted, and starts once Pod/a/n1-a has gone");
}

TEST_F(AwaitedTest, AJobThatIsBeingDeletedIsNotOfferedNorReleased) {
  lose("n1-a"), lose("n1-b");
  berth::Job job = job_of("a", "train", 8);
  add(job);
  begin(), decide();
  EXPECT_THAT(in_flight(), ElementsAre("Job/a/train"));
  job.meta.deletion_timestamp = now;
  job.meta.finalizers = {"example.com/archive"};
  add(job);
  EXPECT_TRUE(reconcile_release(snapshot(), "Job/a/train").empty());
  add(job_of("a", "next", 8));
  decide();
  EXPECT_THAT(in_flight(), ElementsAre("Job/a/next")) << "its entry holds nothing";
}

TEST_F(AwaitedTest, AGatedPodThatIsBeingDeletedKeepsItsGate) {
  lose("n1-a"), lose("n1-b");
  berth::Pod one = member("one", "2"), other = member("other", "2");
  add(one), add(other);
  begin(), decide();
  EXPECT_EQ(reconcile_release(snapshot(), "PodGroup/a/gang").objects.size(), 2u);
  other.meta.deletion_timestamp = now;
  other.meta.finalizers = {"example.com/archive"};
  add(other);
  const Plan plan = reconcile_release(snapshot(), "PodGroup/a/gang");
  for (const ObjectSteps& steps : plan.objects)
    EXPECT_NE(std::get<Write>(steps.steps.at(0)).object.name, "other");
}

TEST_F(AwaitedTest, AnOrphanedPodIsNotCountedOn) {
  berth::Job running = job();
  running.meta.deletion_timestamp = now;
  running.meta.finalizers = {"orphan"};
  lose("n1-a"), lose("n2-a");
  add(running);
  bind(pod_of(running, "train-1"), "n1"), bind(pod_of(running, "train-2"), "n2");
  add(job_of("a", "next", 4));
  begin();
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty());
  running.meta.finalizers = {"foregroundDeletion"};
  add(running);
  decide();
  EXPECT_THAT(ahead_of("next"), ElementsAre("Job/a/train"));
}

}  // namespace
}  // namespace berth::queue
