// SPDX-License-Identifier: Apache-2.0
// Members of gangs that have ended, and their successors.
#include "tests/queue/framework_fixture.h"
#include "tests/queue/preemption_facts.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kSet[] = "PodGroup/a/JobSet:train";

class GangMembersTest : public FrameworkGangsTest {
 protected:
  // A JobSet's Job creates four such pods with four GPUs each.
  static berth::Pod worker(int i) {
    return sized(gated(test::job_set_pod("train", "workers", i), 4), "4");
  }
  static std::string name_of_worker(int i) { return worker(i).meta.name; }
  void start_set() {
    berth::Job job = job_of("a", "train-workers-0", 4);
    job.meta.uid = worker(0).meta.controller()->uid.str();
    job.suspended = false;
    job.parallelism = 4, job.completions = 4;
    job.meta.owner_references = {
        {.kind = "JobSet", .name = "train", .uid = "set", .controller = true}};
    add(job);
    begin();
    start(kSet, {worker(0), worker(1), worker(2), worker(3)});
  }
  static berth::Pod bare(const std::string& name) { return member(name, "2"); }
  void start_bare() {
    begin();
    start("PodGroup/a/gang", {bare("g0"), bare("g1")});
  }
};

// One has succeeded; the others are deleted, for example by a drain, and re-created.
TEST_F(GangMembersTest, AGangStartsAgainWithoutThoseThatHaveSucceeded) {
  start_set();
  EXPECT_EQ(used(), 16);
  end(name_of_worker(0));
  for (int i : {1, 2, 3}) lose(name_of_worker(i));
  for (int i : {1, 2}) add(worker(i));
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty()) << "2 of 3";
  add(worker(3));
  decide();
  ASSERT_THAT(in_flight(), ElementsAre(kSet));
  EXPECT_EQ(entry().pods, 3);
  EXPECT_EQ(entry().amounts, (Amounts{{"nvidia.com/gpu", 12}}));
  EXPECT_EQ(follow(kSet).size(), 3u);
}

TEST_F(GangMembersTest, AMemberThatHasSucceededGivesItsQuotaBack) {
  start_set();
  end(name_of_worker(0));
  EXPECT_EQ(used(), 12);
  add(AdmissionsTest::gated("other", 4));
  decide();
  EXPECT_THAT(in_flight(), ElementsAre("Pod/a/other"));
}

TEST_F(GangMembersTest, AGangOfWhichNothingLivesCountsForNothing) {
  start_set();
  for (int i : {0, 1, 2}) end(name_of_worker(i));
  end(name_of_worker(3), PodPhase::kFailed);
  EXPECT_EQ(used(), 0);
}

// Its Job creates another pod.
TEST_F(GangMembersTest, AMemberThatFailedIsMissingUntilItsControllerHasReplacedIt) {
  start_set();
  end(name_of_worker(0), PodPhase::kFailed);
  EXPECT_EQ(used(), 16);
  berth::Pod next = worker(4);
  add(next);
  EXPECT_THAT(follow(kSet), ElementsAre(next.meta.name));
}

TEST_F(GangMembersTest, AMemberThatFailedAndIsNotReplacedGivesItsQuotaBack) {
  start_bare();
  EXPECT_EQ(used(), 8);
  end("g0", PodPhase::kFailed);
  EXPECT_EQ(used(), 4);
}

// Pods of the first gang still exist when the second comes with the same name.
TEST_F(GangMembersTest, AGangUnderAnOldNameIsANewOne) {
  start_bare();
  for (const char* name : {"g0", "g1"}) end(name);
  add(bare("h0"));
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty())
      << "1 of 2: the members that ended are of another gang";
  EXPECT_THAT(follow("PodGroup/a/gang"), IsEmpty());
  add(bare("h1"));
  decide();
  EXPECT_EQ(entry().pods, 2);
  EXPECT_EQ(entry().amounts, (Amounts{{"nvidia.com/gpu", 8}}));
}

// It counts with the admission that released it, even if a user edits the other members.
TEST_F(GangMembersTest, AnEditOfTheSizeTakesNothingBackFromAMemberThatHasEnded) {
  start_set();
  end(name_of_worker(0));
  for (int i : {1, 2, 3}) add(sized(pod_named(name_of_worker(i)), "9"));
  EXPECT_EQ(used(), 12);
}

// The next admission was for the remaining members only.
TEST_F(GangMembersTest, AMemberThatHasEndedDoesNotCountAgainstALaterAdmission) {
  start_set();
  end(name_of_worker(0));
  for (int i : {1, 2, 3}) lose(name_of_worker(i));
  now += std::chrono::minutes(1);
  start(kSet, {worker(1), worker(2), worker(3)});
  EXPECT_EQ(used(), 12);
  lose(name_of_worker(1));
  EXPECT_EQ(used(), 12) << "its Job creates it again";
  berth::Pod next = worker(4);
  add(next);
  EXPECT_THAT(follow(kSet), ElementsAre(next.meta.name));
}

// For engine and model: a gang of pods with one GPU, of which one has ended and two run.
struct GangWithAnEnd : test::LittleCluster {
  GangWithAnEnd(std::int64_t says, std::int64_t admitted, std::int64_t ended_since) {
    add_node("n", 8);
    add_queue("a", 4);
    for (int i = 0; i < 3; ++i) {
      const std::string uid = "m" + std::to_string(i);
      pods.push_back({.uid = uid,
                      .workload = "PodGroup/ns/gang",
                      .queue = "a",
                      .group_size = says,
                      .maker = "controller",
                      .requests = {{test::kGpu, 1}},
                      .state = i == 0 ? PodState::kEnded : PodState::kBound,
                      .node = i == 0 ? "" : "n",
                      .admitted = AdmissionFact{.uid = uid,
                                                .queue = "a",
                                                .cohort = "c",
                                                .pool = "training",
                                                .pods = admitted,
                                                .amounts = {{test::kGpu, admitted}},
                                                .since = i == 0 ? ended_since : 2}});
    }
    for (const char* name : {"a1", "a2", "a3"}) add_waiting(name, "a", 1);
  }
};

TEST(GangMembers, ThatHaveEndedCountWithTheAdmissionThatReleasedThem) {
  EXPECT_THAT(decided(GangWithAnEnd(4, 4, 2)), ElementsAre("a1")) << "three of four are left";
  EXPECT_THAT(decided(GangWithAnEnd(9, 4, 2)), ElementsAre("a1")) << "whatever size it says now";
  EXPECT_THAT(decided(GangWithAnEnd(4, 3, 1)), ElementsAre("a1")) << "the next was for three";
  EXPECT_THAT(decided(GangWithAnEnd(9, 3, 1)), ElementsAre("a1"));
}

// A Ray cluster's head requests no GPU.
TEST_F(GangMembersTest, ASuccessorHasTheRoleOfTheMemberThatEnded) {
  const auto ray = [](const std::string& name, const std::string& group, int gpus) {
    berth::Pod pod = sized(gated(test::ray_pod("serve", group), gpus), "4");
    pod.meta.labels.set(names::kQueueLabel, "vision");
    pod.meta.name = pod.meta.uid = name;
    return pod;
  };
  const std::string gang = "PodGroup/a/RayCluster:serve";
  begin();
  start(gang, {ray("head", "headgroup", 0), ray("w0", "workers", 4), ray("w1", "workers", 4),
               ray("w2", "workers", 4)});
  add(ray("w3", "workers", 4));
  EXPECT_THAT(follow(gang), IsEmpty()) << "a worker too many";
  lose("head");
  EXPECT_THAT(follow(gang), IsEmpty()) << "the head's place is no worker's";
  add(ray("head2", "headgroup", 0));
  EXPECT_THAT(follow(gang), ElementsAre("head2"));
  lose("w0");
  EXPECT_THAT(follow(gang), ElementsAre("head2", "w3"));
}

// Without roles, members are matched by their GPU requests.
TEST_F(GangMembersTest, ASuccessorAsksForTheGpusOfTheMemberThatEnded) {
  const auto part = [](const std::string& name, int gpus) {
    berth::Pod pod = member(name, "2");
    pod.meta.labels.set(names::kQueueLabel, "vision");
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
    return pod;
  };
  begin();
  start("PodGroup/a/gang", {part("launcher", 0), part("worker", 8)});
  add(part("surplus", 8));
  lose("launcher");
  EXPECT_THAT(follow("PodGroup/a/gang"), IsEmpty());
  add(part("next", 0));
  EXPECT_THAT(follow("PodGroup/a/gang"), ElementsAre("next"));
}

}  // namespace
}  // namespace berth::queue
