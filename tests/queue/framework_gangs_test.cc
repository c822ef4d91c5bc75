// SPDX-License-Identifier: Apache-2.0
// Gangs of other projects' controllers, step by step through the ledger; and gangs that start with
// their first pod.
#include <fmt/format.h>

#include "controller/queue/index/facts_from.h"
#include "tests/queue/framework_fixture.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A Job creates the launcher, and the workers request more.
TEST_F(FrameworkGangsTest, ALauncherAndItsWorkersGoTogether) {
  const auto launcher = [] { return sized(gated(test::mpi_pod("train", "launcher"), 1), "3"); };
  add(launcher());
  add(sized(gated(test::mpi_pod("train", "worker", 0), 4), "3"));
  begin();
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty()) << "a worker is missing";
  add(sized(gated(test::mpi_pod("train", "worker", 1), 4), "3"));
  decide();
  EXPECT_THAT(in_flight(), ElementsAre("PodGroup/a/Kubeflow:train:mpi-operator"));
  EXPECT_EQ(entry().amounts, (Amounts{{"nvidia.com/gpu", 9}}));
  const Plan plan = reconcile_release(snapshot(), in_flight().front());
  EXPECT_THAT(plan.objects, SizeIs(3));
  EXPECT_EQ(workload_name(let_go(launcher(), plan, "n1")), in_flight().front())
      << "it was let go under its own name, not under its Job's";
}

// berth does not suspend the JobSet's Jobs: their pods wait at the gate, and belong to the JobSet
// all the time.
TEST_F(FrameworkGangsTest, PodsOfAJobSetAreItsGangForAllTheirLives) {
  berth::Job job = job_of("a", "train-workers-0", 4);
  job.suspended = false;
  job.meta.owner_references = {
      {.kind = "JobSet", .name = "train", .uid = "set", .controller = true}};
  add(job);
  std::vector<berth::Pod> pods;
  for (int i = 0; i < 2; ++i)
    pods.push_back(sized(gated(test::job_set_pod("train", "workers", i), 4), "2"));
  const std::string gang = "PodGroup/a/JobSet:train";
  add(pods[0]);
  begin();
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty());
  add(pods[1]);
  decide();
  EXPECT_THAT(in_flight(), ElementsAre(gang));
  const Plan plan = reconcile_release(snapshot(), gang);
  ASSERT_THAT(plan.objects, SizeIs(2));
  for (berth::Pod& pod : pods) {
    EXPECT_EQ(workload_name(pod), gang);
    berth::Pod opened = pod;
    opened.shape.edit()->scheduling_gates.clear();
    EXPECT_EQ(workload_name(opened), gang) << "whoever took its gate";
    pod = let_go(pod, plan, "n1");
    EXPECT_EQ(workload_name(pod), gang);
    add(pod);
  }
  EXPECT_THAT(in_flight(), ElementsAre(gang));
  EXPECT_TRUE(reconcile_release(snapshot(), gang).empty());
  EXPECT_EQ(workload_name(test::job_set_pod("train", "workers", 2)), "Job/ns/train-workers-0")
      << "without a size what runs past the webhook is its Job's, as ever";
}

// StatefulSet's OrderedReady: the second pod is created when the first is ready.
TEST_F(FrameworkGangsTest, AnOrderedOneStartsWithItsFirstPodAndCountsWhole) {
  const auto member = [](int i) {
    return fast(sized(gated(test::stateful_pod("ring", i), 4), "3"));
  };
  const std::string gang = "PodGroup/a/StatefulSet:ring";
  add(member(0));
  begin(), decide();
  EXPECT_THAT(in_flight(), ElementsAre(gang));
  EXPECT_EQ(entry().pods, 3);
  EXPECT_EQ(entry().amounts, (Amounts{{"nvidia.com/gpu", 12}}));
  const Plan first = reconcile_release(snapshot(), gang);
  EXPECT_THAT(objects_of(first), ElementsAre("ring-0"));
  add(let_go(member(0), first, "n1"));

  add(AdmissionsTest::gated("other", 8));
  now += std::chrono::seconds(10);
  decide();
  EXPECT_THAT(in_flight(), IsEmpty()) << "12 of 16 are the ring's, and the other needs 8";

  add(member(1));
  const Plan second = reconcile_release(snapshot(), gang);
  EXPECT_THAT(objects_of(second), ElementsAre("ring-1")) << "without another decision";
  const auto record = decode_admission(
      std::string(body_of(second)["metadata"]["annotations"][names::kAdmittedAnnotation]));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->pods, 3);
  EXPECT_EQ(record->amounts, (Amounts{{"nvidia.com/gpu", 12}}));
  add(let_go(member(1), second, "n1"));
  add(member(2));
  EXPECT_THAT(objects_of(reconcile_release(snapshot(), gang)), ElementsAre("ring-2"));
  add(member(3));
  EXPECT_THAT(objects_of(reconcile_release(snapshot(), gang)), ElementsAre("ring-2"))
      << "a fourth is in nobody's account";
}

TEST_F(FrameworkGangsTest, AnOrderedOneThatDoesNotFitWholeDoesNotStart) {
  add(fast(sized(gated(test::stateful_pod("ring", 0), 4), "5")));
  begin();
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty()) << "20 of 16";
}

// The leader requests one GPU, each worker four.
TEST_F(FrameworkGangsTest, MembersToComeAskAsTheFirstOfTheirRole) {
  add(fast(gated(test::leader_worker_pod("llm", 0, 0, 4), 1)));
  add(fast(gated(test::leader_worker_pod("llm", 0, 1, 4), 4)));
  begin(), decide();
  EXPECT_EQ(entry().amounts, (Amounts{{"nvidia.com/gpu", 13}})) << "1 + 3 × 4";
}

TEST_F(FrameworkGangsTest, MembersOfWhomNobodyIsThereAskAsTheOldest) {
  add(fast(gated(test::leader_worker_pod("llm", 0, 0, 4), 2)));
  begin(), decide();
  EXPECT_EQ(entry().amounts, (Amounts{{"nvidia.com/gpu", 8}})) << "its workers' shape is not known";
}

// A leader without GPUs and without a label is in no queue. It is no member and blocks no gang.
TEST_F(FrameworkGangsTest, APodOfNoQueueIsNoMember) {
  berth::Pod leader = test::leader_worker_pod("llm", 0, 0, 3);
  leader.meta.namespace_ = "a";
  leader.shape.edit()->requests = {};
  leader.node_name = "n1";
  add(leader);
  add(gated(test::leader_worker_pod("llm", 0, 1, 3), 4));
  add(gated(test::leader_worker_pod("llm", 0, 2, 3), 4));
  begin();
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty()) << "2 of 3";
  for (int i : {1, 2}) add(sized(gated(test::leader_worker_pod("llm", 0, i, 3), 4), "2"));
  decide();
  EXPECT_EQ(entry().amounts, (Amounts{{"nvidia.com/gpu", 8}})) << "the two that are in the queue";
}

}  // namespace
}  // namespace berth::queue
