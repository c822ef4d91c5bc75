// SPDX-License-Identifier: Apache-2.0
// A gang whose controller re-creates all of its pods keeps its admission.
#include "controller/queue/record/restart.h"

#include <fmt/format.h>

#include "controller/queue/record/recall.h"
#include "tests/queue/framework_fixture.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kGroup0[] = "PodGroup/a/LeaderWorkerSet:llm:0";
constexpr char kGroup1[] = "PodGroup/a/LeaderWorkerSet:llm:1";
constexpr char kSet[] = "PodGroup/a/JobSet:train";

class RestartTest : public FrameworkGangsTest {
 protected:
  // The groups of a LeaderWorkerSet: a leader and a worker with eight GPUs each. Its StatefulSet
  // creates the leaders. Each leader owns a StatefulSet for its workers, which is deleted with it.
  berth::Pod part(int group, int index) const {
    berth::Pod pod = gated(test::leader_worker_pod("llm", group, index, 2), 8);
    pod.meta.uid += fmt::format("-{}", round);
    if (index > 0) pod.meta.owner_references.front().uid = Text(fmt::format("workers-{}", round));
    pod.meta.creation_timestamp = now;
    return pod;
  }
  static std::string name_of_part(int group, int index) {
    return test::leader_worker_pod("llm", group, index, 2).meta.name;
  }
  // Group 0 runs on all sixteen GPUs, and group 1 is pending.
  void start_groups() {
    begin();
    start(kGroup0, {part(0, 0), part(0, 1)});
    add(part(1, 0)), add(part(1, 1));
    settle();
    ASSERT_THAT(in_flight(), IsEmpty());
  }
  // All pods of group 0 are deleted, and gone a moment later.
  void restart_group() {
    for (int i : {0, 1}) remove(name_of_part(0, i));
    settle();
    for (int i : {0, 1}) lose(name_of_part(0, i));
    now += std::chrono::seconds(2);
    settle();
    ++round;
  }
  std::vector<RestartFact> marks() const {
    std::vector<RestartFact> all;
    for (const auto& [key, mark] : read_admissions(snapshot()).restarts) all.push_back(mark);
    return all;
  }

  int round = 0;
};

TEST_F(RestartTest, AGroupThatIsRecreatedKeepsItsGpus) {
  start_groups();
  restart_group();
  EXPECT_THAT(in_flight(), IsEmpty()) << "group 1 waits";
  EXPECT_EQ(used(), 16);
  add(part(0, 0));
  EXPECT_THAT(follow(kGroup0), ElementsAre(name_of_part(0, 0)));
  run(let_go(part(0, 0), reconcile_release(snapshot(), kGroup0), "n1"));
  settle();
  EXPECT_THAT(in_flight(), IsEmpty());
  EXPECT_THAT(marks(), SizeIs(1)) << "a worker is missing";
  add(part(0, 1));
  EXPECT_THAT(follow(kGroup0), ElementsAre(name_of_part(0, 1))) << "of another StatefulSet";
  run(let_go(part(0, 1), reconcile_release(snapshot(), kGroup0), "n2"));
  settle();
  EXPECT_THAT(marks(), IsEmpty()) << "its pods show the admission again";
  EXPECT_EQ(used(), 16);
}

// Group 1 does not wait for quota.
TEST_F(RestartTest, AGroupThatIsRecreatedKeepsItsRoom) {
  add(queue_of("vision", 64));
  start_groups();
  restart_group();
  EXPECT_THAT(in_flight(), IsEmpty());
  add(part(0, 0)), add(part(0, 1));
  EXPECT_THAT(follow(kGroup0), SizeIs(2));
}

TEST_F(RestartTest, TheNextLeaderFindsTheMark) {
  start_groups();
  restart_group();
  ClusterState found;
  for (const auto& each : cluster.nodes()) found.upsert(Node(*each), now);
  for (const auto& each : cluster.pods()) found.upsert(berth::Pod(*each), now);
  for (const auto& each : cluster.gpu_queues()) found.upsert(GPUQueue(*each), now);
  for (const auto& each : cluster.gpu_policies()) found.upsert(GPUClusterPolicy(*each), now);
  for (const auto& each : cluster.namespaces()) found.upsert(Namespace(*each), now);
  for (const auto& each : cluster.config_maps()) found.upsert(ConfigMap(*each), now);
  cluster = found;
  epoch = 4;
  begin();
  settle();
  EXPECT_THAT(in_flight(), IsEmpty());
  add(part(0, 0));
  EXPECT_THAT(follow(kGroup0), SizeIs(1));
}

// berth does not see whether its LeaderWorkerSet was deleted.
TEST_F(RestartTest, AGroupThatDoesNotComeBackIsGivenUp) {
  start_groups();
  restart_group();
  ASSERT_THAT(marks(), SizeIs(1));
  now += std::chrono::seconds(27);
  settle();
  EXPECT_THAT(in_flight(), IsEmpty());
  now += std::chrono::seconds(3);
  settle();
  EXPECT_THAT(marks(), IsEmpty());
  EXPECT_THAT(in_flight(), ElementsAre(kGroup1));
}

TEST_F(RestartTest, TheSameNameOfAnotherOwnerIsAnotherGang) {
  start_groups();
  restart_group();
  berth::Pod leader = part(0, 0);
  leader.meta.owner_references.front().uid = "another";
  add(leader);
  settle();
  EXPECT_THAT(marks(), IsEmpty());
  EXPECT_THAT(follow(kGroup0), IsEmpty());
  EXPECT_THAT(in_flight(), ElementsAre(kGroup1));
}

TEST_F(RestartTest, OneMemberThatIsReplacedLeavesNoMark) {
  start_groups();
  remove(name_of_part(0, 1));
  settle();
  EXPECT_THAT(marks(), SizeIs(1)) << "its leader may follow";
  lose(name_of_part(0, 1));
  add(part(0, 1));
  run(let_go(part(0, 1), reconcile_release(snapshot(), kGroup0), "n2"));
  settle();
  EXPECT_THAT(marks(), IsEmpty());
}

TEST_F(RestartTest, PodsWithoutAControllerAreNotAwaited) {
  begin();
  start("PodGroup/a/gang", {member("g0", "2"), member("g1", "2")});
  for (const char* name : {"g0", "g1"}) remove(name);
  settle();
  EXPECT_THAT(marks(), IsEmpty());
}

// It must be placed on other nodes.
TEST_F(RestartTest, AGangThatIsDrainedFromItsNodeIsNotAwaitedThere) {
  start_groups();
  Node node = node_of("n1", 8);
  node.unschedulable = true;
  add(node);
  for (int i : {0, 1}) remove(name_of_part(0, i));
  settle();
  EXPECT_THAT(marks(), IsEmpty());
}

TEST_F(RestartTest, AGangThatIsTakenBackIsNotAwaited) {
  start_groups();
  restart_group();
  const RestartFact mark = marks().front();
  const RecallFact recall{.workload = kGroup0,
                          .since = mark.admission.since,
                          .at = now.time_since_epoch().count(),
                          .why = "idle"};
  ConfigMap taken = *ledger();
  taken.data[recall_key("x")] = encode_recall(recall);
  add(taken);
  settle();
  EXPECT_THAT(marks(), IsEmpty());
  EXPECT_THAT(in_flight(), ElementsAre(kGroup1));
}

// A JobSet re-creates all of its Jobs: Jobs and pods get new uids, the JobSet keeps its own.
class JobSetRestartTest : public RestartTest {
 protected:
  berth::Pod worker(int i) const {
    berth::Pod pod = sized(gated(test::job_set_pod("train", "workers", i), 8), "2");
    pod.meta.uid += fmt::format("-{}", round);
    pod.meta.owner_references.front().uid = Text(fmt::format("job-{}", round));
    return pod;
  }
  berth::Job job(bool suspended = false) const {
    berth::Job made = job_of("a", "train-workers-0", 8);
    made.meta.uid = fmt::format("job-{}", round);
    made.suspended = suspended;
    made.parallelism = 2, made.completions = 2;
    made.meta.owner_references = {
        {.kind = "JobSet", .name = "train", .uid = "set", .controller = true}};
    return made;
  }
  void start_set() {
    add(job());
    begin();
    start(kSet, {worker(0), worker(1)});
    add(AdmissionsTest::gated("w1", 8));
    settle();
    ASSERT_THAT(in_flight(), IsEmpty());
  }
  void restart_set() {
    end(worker(0).meta.name, PodPhase::kFailed);
    settle();
    remove(worker(1).meta.name);
    settle();
    for (int i : {0, 1}) lose(worker(i).meta.name);
    cluster.erase<berth::Job>("a", "train-workers-0");
    settle();
    ++round;
  }
};

TEST_F(JobSetRestartTest, KeepsItsGpus) {
  start_set();
  restart_set();
  EXPECT_THAT(in_flight(), IsEmpty());
  add(worker(0)), add(worker(1));
  settle();
  EXPECT_THAT(marks(), SizeIs(1));
  EXPECT_THAT(in_flight(), IsEmpty());
  EXPECT_THAT(follow(kSet), IsEmpty()) << "whose Job it is, is not known yet";
  add(job());
  EXPECT_THAT(due(), ::testing::Contains(std::string("release/") + kSet));
  EXPECT_THAT(queue_keys_for(cluster, settings, nullptr, cluster.jobs().find("a", job().meta.name)),
              ::testing::Contains(std::string("release/") + kSet));
  EXPECT_THAT(follow(kSet), SizeIs(2));
}

TEST_F(JobSetRestartTest, ASuspendedOneIsNotAwaited) {
  start_set();
  add(job(true));
  for (int i : {0, 1}) remove(worker(i).meta.name);
  settle();
  EXPECT_THAT(marks(), IsEmpty());
}

TEST(Restart, IsReadAsItIsWritten) {
  const RestartFact mark{.workload = "PodGroup/a/g",
                         .admission = {.uid = "u",
                                       .queue = "vision",
                                       .pool = "training",
                                       .pods = 2,
                                       .amounts = {{"nvidia.com/gpu", 16}},
                                       .since = 5,
                                       .seats = {{"leader", 1}, {"worker", 1}}},
                         .makers = {"m0", "m1"},
                         .asks = {{{{"cpu", 500}, {"nvidia.com/gpu", 8}}, 2}},
                         .gone = 7};
  EXPECT_EQ(decode_restart(encode_restart(mark)), mark);
  EXPECT_EQ(decode_restart(R"({"workload":"PodGroup/a/g"})"), std::nullopt);
}

}  // namespace
}  // namespace berth::queue
