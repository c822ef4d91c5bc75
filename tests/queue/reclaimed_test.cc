// SPDX-License-Identifier: Apache-2.0
// How berth reclaims idle GPUs, step by step over stores: from the measurement to the ledger, and
// what happens to the workloads that had them.
#include <algorithm>

#include "apis/base/reasons.h"
#include "controller/queue/recall/displaced.h"
#include "controller/queue/recall/idle_work.h"
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

constexpr char kSleeps[] = "Job/a/sleeps";

// Queue "vision" has sixteen GPUs on two nodes. Pods use the GPUs of a node from its first one on.
class ReclaimedTest : public AdmittedTest {
 protected:
  ReclaimedTest() { choose(IdlePolicy::kOnPressure); }
  void choose(IdlePolicy idle) {
    GPUClusterPolicy policy = policy_with("training");
    policy.spec.idle.policy = idle;
    add(policy);
    samples.measured_at = now;
    samples.interval = 30s;
  }
  void have_one_node() {
    add(node_of("n1", 16));
    cluster.erase<Node>("", "n2");
  }
  // One pod with so many GPUs on the node, long idle and with notice given.
  void run(const std::string& name, int gpus, const std::string& node) {
    berth::Job job = job_of("a", name, gpus);
    job.suspended = false, job.active = 1;
    job.completions = 1;
    note_long_ago(job.meta, name, gpus);
    add(job);
    berth::Pod pod = pod_of(job, name + "-0", node);
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
    hold(std::move(pod), gpus);
  }
  void note_long_ago(ObjectMeta& meta, const std::string& uid, int gpus) {
    now -= 5h;
    note(meta, uid, {}, gpus);
    now += 5h;
  }
  berth::Pod of_set(const std::string& name, int gpus, const std::string& node) {
    berth::Pod pod = released(name, node, "StatefulSet");
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
    note_long_ago(pod.meta, name, gpus);
    pod.node_name = node, pod.phase = PodPhase::kRunning;
    return pod;
  }
  void hold(berth::Pod pod, int gpus) {
    pod.start_time = pod.meta.creation_timestamp = now - 5h;
    pod.meta.annotations.set(names::kIdleSinceAnnotation, format_time(now - 2h));
    pod.meta.annotations.set(names::kReclaimAfterAnnotation, format_time(now - 1min));
    std::vector<GpuSample>& on = samples.nodes[pod.node_name.str()];
    for (int i = 0; i < gpus; ++i) {
      GpuSample& gpu = on.emplace_back();
      gpu.uuid = gpu.index = std::to_string(on.size());
      gpu.holders = {{pod.meta.namespace_, Text(pod.meta.name)}};
      gpu.activity = 0.0f, gpu.quiet_since = now - 2h;
      gpu.seen = now;
    }
    add(std::move(pod));
  }
  void each_gpu_of(const std::string& pod, auto change) {
    for (auto& [node, gpus] : samples.nodes)
      for (GpuSample& gpu : gpus)
        if (gpu.holders.at(0).pod.view() == pod) change(gpu);
  }
  void work(const std::string& pod) {
    each_gpu_of(pod, [](GpuSample& gpu) { gpu.activity = 0.9f, gpu.quiet_since.reset(); });
  }
  void look() {  // another round of measurements
    for (auto& [node, gpus] : samples.nodes)
      for (GpuSample& gpu : gpus) gpu.seen = now;
    samples.measured_at = now;
  }
  void answer(const std::string& name, bool yes) {
    const berth::Pod& pod = *cluster.pods().find("a", name);
    answers.put(question(Ask{ref_of(pod), pod.meta.resource_version}),
                {.yes = yes,
                 .error = {ErrorKind::kThrottled, "the budget is used up"},
                 .against = pod.meta.resource_version,
                 .at = now});
  }
  void suspend(const std::string& name) {
    berth::Job job = *cluster.jobs().find("a", name);
    job.suspended = true, job.active = 0;
    add(job);
    lose(name + "-0");
  }
  void lose(const std::string& pod) {
    cluster.erase<berth::Pod>("a", pod);
    for (auto& [node, gpus] : samples.nodes)
      std::erase_if(gpus,
                    [&](const GpuSample& gpu) { return gpu.holders.at(0).pod.view() == pod; });
  }
  // Starts the pending workload, as berth and the Job's controller would.
  void begin_with(const std::string& name, int gpus, const std::string& node) {
    run(name, gpus, node);
    work(name + "-0");
  }
  void wait_for(const std::string& name, int gpus) { add(job_of("a", name, gpus)); }
  bool decides_nothing() { return reconcile_admissions(snapshot()).objects.empty(); }
  LedgerFact entry(const std::string& uid) { return read_admissions(snapshot()).entries.at(uid); }
};

TEST_F(ReclaimedTest, TheLedgerNamesWhoseGpusAreTakenAndWhoGivesWay) {
  run("sleeps", 8, "n1"), run("works", 8, "n2"), work("works-0");
  wait_for("train", 4);
  begin(), decide();
  EXPECT_THAT(
      entry("train").ahead,
      ElementsAre(AheadFact{kSleeps, "sleeps", (now - 5h).time_since_epoch().count(), true, true}));
  EXPECT_EQ(decode_entry(encode_entry(entry("train"))), entry("train"));
  EXPECT_EQ(read_admissions(snapshot()).yields, (Yields{{"sleeps", {"Job/a/train", "train"}}}));
  const Plan stops = plan(kSleeps);
  ASSERT_THAT(stops.objects, SizeIs(1));
  EXPECT_EQ(body_of(stops)["spec"]["suspend"], true);
  EXPECT_THAT(body_of(stops)["metadata"]["annotations"][names::kPreemptedAnnotation].dump(),
              HasSubstr("for Job/a/train of queue vision, as it was idle"));
  ASSERT_THAT(stops.events, SizeIs(1));
  EXPECT_EQ(stops.events[0].reason, reasons::kGpusReclaimed);
  ASSERT_THAT(stops.observations, SizeIs(1));
  suspend("sleeps");
  decide();
  EXPECT_THAT(entry("train").ahead, IsEmpty()) << "it begins";
}

TEST_F(ReclaimedTest, NobodyGoesWhereNobodyWaitsOrWhoWaitsHasRoom) {
  run("sleeps", 8, "n1");
  begin();
  EXPECT_TRUE(decides_nothing());
  wait_for("train", 8);
  decide();
  EXPECT_THAT(entry("train").ahead, IsEmpty());
}

TEST_F(ReclaimedTest, OnlyUnderThatPolicyAndAfterItsTime) {
  have_one_node(), run("sleeps", 16, "n1");
  wait_for("train", 4);
  begin();
  for (const IdlePolicy other : {IdlePolicy::kObserve, IdlePolicy::kNotify, IdlePolicy::kAlways}) {
    choose(other);
    EXPECT_TRUE(decides_nothing()) << to_string(other);
  }
  choose(IdlePolicy::kOnPressure);
  berth::Pod pod = *cluster.pods().find("a", "sleeps-0");
  pod.meta.annotations.set(names::kReclaimAfterAnnotation, format_time(now + 7min));
  add(pod);
  EXPECT_TRUE(decides_nothing());
  EXPECT_EQ(reconcile_admissions(snapshot()).requeue_after, 7min);
  now += 7min, look();
  decide();
  EXPECT_THAT(entry("train").ahead, SizeIs(1));
}

TEST_F(ReclaimedTest, WhatIsNotMeasuredOrWorksWithOneOfItsGpusStays) {
  have_one_node(), run("sleeps", 16, "n1");
  wait_for("train", 4);
  begin();
  now += 10min;
  EXPECT_TRUE(decides_nothing()) << "the last round is long ago";
  look();
  samples.nodes["n1"].back().quiet_since.reset();
  EXPECT_TRUE(decides_nothing()) << "one of them is at work";
  samples.nodes["n1"].pop_back();
  EXPECT_TRUE(decides_nothing()) << "nobody looks at one of them";
}

// It became active during the notice: the entry is removed, and the next cycle finds no victim.
TEST_F(ReclaimedTest, WhoeverWorksAgainBeforeHisTimeKeepsHisGpus) {
  GPUQueue vision = queue_of("vision", 16);
  vision.spec.preemption.notice_period = 2min;
  add(vision);
  have_one_node(), run("sleeps", 16, "n1");
  wait_for("train", 4);
  begin(), decide();
  EXPECT_THAT(done(kSleeps), Contains("mergepatch sleeps-0")) << "it is told";
  now += 1min, look();
  work("sleeps-0");
  EXPECT_EQ(plan(kSleeps), Plan());
  decide();
  EXPECT_THAT(in_flight(), IsEmpty());
  EXPECT_TRUE(decides_nothing());
}

// Last activity, such as a checkpoint, does not let it keep its GPUs.
TEST_F(ReclaimedTest, WhoeverWorksWhileHeGoesIsGoing) {
  have_one_node(), run("sleeps", 16, "n1");
  wait_for("train", 4);
  begin(), decide();
  berth::Job goes = *cluster.jobs().find("a", "sleeps");
  goes.suspended = true;
  add(goes);
  now += 1min, look();
  work("sleeps-0");
  EXPECT_TRUE(decides_nothing()) << "its pod is not gone yet";
  EXPECT_THAT(in_flight(), ElementsAre("Job/a/train"));
  lose("sleeps-0");
  decide();
  EXPECT_THAT(entry("train").ahead, IsEmpty()) << "it begins";
}

TEST_F(ReclaimedTest, PodsAreEvictedOnlyIfTheApiServerAgrees) {
  have_one_node(), hold(of_set("book-0", 16, "n1"), 16);
  wait_for("train", 4);
  begin();
  const Plan asks = reconcile_admissions(snapshot());
  ASSERT_THAT(asks.objects, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<Ask>(asks.objects[0].steps.at(0)));
  answer("book-0", false);
  EXPECT_TRUE(decides_nothing());
  const Plan told = reconcile_reclaim(snapshot());
  ASSERT_THAT(told.events, SizeIs(1));
  EXPECT_EQ(told.events[0].reason, reasons::kGpusKept);
  EXPECT_THAT(told.events[0].note, HasSubstr("the budget is used up"));
  answer("book-0", true);
  decide();
  EXPECT_THAT(done("Pod/a/book-0"), ElementsAre("evict book-0"));
}

// Its owner would fail permanently: idle or not, it stays, under either policy.
TEST_F(ReclaimedTest, IdlePodsWithoutWhichTheirJobFailsStay) {
  have_one_node();
  berth::Pod pod = of_set("book-0", 16, "n1");
  pod.never_restarts = true;
  pod.meta.owner_references = {{.api_version = "kubeflow.org/v1",
                                .kind = "TFJob",
                                .name = "tf",
                                .uid = "tf",
                                .controller = true}};
  hold(pod, 16), wait_for("train", 4);
  begin(), answer("book-0", true);
  const auto look = [](const Plan& plan) {
    EXPECT_THAT(plan.objects, SizeIs(1));
    return std::get<Guard>(plan.objects.at(0).steps.at(0));
  };
  const Guard asked = look(reconcile_admissions(snapshot()));
  EXPECT_EQ(look([&] {
              choose(IdlePolicy::kAlways);
              return reconcile_reclaim(snapshot());
            }()),
            asked);
  answers.put(question(asked),
              {.error = {ErrorKind::kConflict, "TFJob a/tf would fail"}, .at = now});
  for (const IdlePolicy policy : {IdlePolicy::kAlways, IdlePolicy::kOnPressure}) {
    choose(policy);
    EXPECT_TRUE(decides_nothing());
    const Plan told = reconcile_reclaim(snapshot());
    EXPECT_THAT(told.objects, IsEmpty());
    ASSERT_THAT(told.events, SizeIs(1));
    EXPECT_EQ(told.events[0].reason, reasons::kGpusKept);
    EXPECT_THAT(told.events[0].note, HasSubstr("TFJob a/tf would fail"));
  }
}

// It is pending with a higher priority, and its queue's rules would allow a preemption.
TEST_F(ReclaimedTest, WhoGaveWayTakesNothingBackWhileTheOtherIsThere) {
  GPUQueue vision = queue_of("vision", 16);
  vision.spec.preemption.within_queue = WithinQueue::kLowerPriority;
  vision.spec.priority_classes = {"high"};
  add(vision);
  PriorityClass high;
  high.meta.name = "high", high.value = 100;
  add(high);
  have_one_node(), run("sleeps", 16, "n1");
  berth::Job sleeper = *cluster.jobs().find("a", "sleeps");
  sleeper.meta.labels.set(names::kPriorityClassLabel, "high");
  add(sleeper);
  wait_for("train", 16);
  begin(), decide();
  suspend("sleeps");
  decide();
  begin_with("train", 16, "n1");
  now += 1min, look();
  decide();
  EXPECT_THAT(in_flight(), IsEmpty());
  EXPECT_TRUE(decides_nothing());
  EXPECT_EQ(count_reclaimed(snapshot()), 1);
  // The other workload is idle too by now, and stays.
  each_gpu_of("train-0", [&](GpuSample& gpu) { gpu.activity = 0.0f, gpu.quiet_since = now - 2h; });
  EXPECT_THAT(find_idle_work(snapshot(), *cluster.gpu_policies().find("cluster")), SizeIs(1));
  EXPECT_TRUE(decides_nothing());
  // It has ended, and another one has started: now priority counts again.
  cluster.erase<berth::Job>("a", "train");
  lose("train-0");
  EXPECT_EQ(count_reclaimed(snapshot()), 0);
  begin_with("other", 16, "n1");
  decide();
  EXPECT_THAT(in_flight(), ElementsAre(kSleeps));
}

// A pending workload may in turn take idle GPUs, but without arrivals this ends: each of four Jobs
// is idle when it runs, and there is room for one.
TEST_F(ReclaimedTest, SleepersDoNotTakeTurns) {
  have_one_node(), run("j0", 16, "n1");
  std::string runs = "j0";
  for (const char* name : {"j1", "j2", "j3"}) wait_for(name, 16);
  begin();
  int taken = 0;
  for (int step = 0; step < 100; ++step) {
    now += 1min, look();
    const Plan next = reconcile_admissions(snapshot());
    if (next.objects.empty()) continue;
    take_ledger(next);
    for (const std::string& waits : in_flight()) {
      const std::string name = waits.substr(waits.rfind('/') + 1);
      if (!entry(name).ahead.empty()) {
        ++taken;
        suspend(runs);
      } else {
        run(name, 16, "n1");  // and it is idle
        runs = name;
      }
    }
  }
  EXPECT_EQ(taken, 3) << "each of the others once";
}

TEST_F(ReclaimedTest, PodsOfNoQueueGoToo) {
  have_one_node();
  berth::Pod pod = of_set("book-0", 16, "n1");
  pod.meta.annotations.erase(names::kAdmittedAnnotation);
  add(namespace_of("c", "none"));
  pod.meta.namespace_ = "c";
  hold(pod, 16);
  wait_for("train", 4);
  begin();
  const berth::Pod& asked = *cluster.pods().find("c", "book-0");
  answers.put(question(Ask{ref_of(asked), asked.meta.resource_version}),
              {.yes = true, .against = asked.meta.resource_version, .at = now});
  decide();
  EXPECT_THAT(entry("train").ahead,
              ElementsAre(AheadFact{"Pod/c/book-0", "book-0", 0, true, true}));
  EXPECT_THAT(done("Pod/c/book-0"), ElementsAre("evict book-0"));
  EXPECT_TRUE(decides_nothing());
  cluster.erase<berth::Pod>("c", "book-0");
  decide();
  EXPECT_THAT(entry("train").ahead, IsEmpty());
}

// --- Always ---

TEST_F(ReclaimedTest, AlwaysTakesAJobBackAndHoldsIt) {
  choose(IdlePolicy::kAlways);
  run("sleeps", 8, "n1"), run("works", 8, "n2"), work("works-0");
  const Plan plan = reconcile_reclaim(snapshot());
  ASSERT_THAT(plan.objects, SizeIs(1));
  const nlohmann::json body = body_of(plan);
  EXPECT_EQ(body["spec"]["suspend"], true);
  EXPECT_TRUE(body["metadata"]["annotations"].contains(names::kHoldAnnotation))
      << "or it would begin again at once";
  ASSERT_THAT(plan.events, SizeIs(1));
  EXPECT_THAT(plan.events[0].note, HasSubstr("remove annotation gpu.berth.dev/hold"));
  suspend("sleeps");
  EXPECT_EQ(reconcile_reclaim(snapshot()), Plan());
  const auto held = [&](const std::string& why) {
    berth::Job job = *cluster.jobs().find("a", "sleeps");
    job.meta.annotations.set(names::kHoldAnnotation, why);
    add(job);
    return count_reclaimed(snapshot());
  };
  EXPECT_EQ(held(body["metadata"]["annotations"][names::kHoldAnnotation].get<std::string>()), 1);
  EXPECT_EQ(held("a person's"), 0);
}

TEST_F(ReclaimedTest, AlwaysEvictsPodsWithinTheirBudgetsAndSoManyAtATime) {
  choose(IdlePolicy::kAlways);
  have_one_node();
  for (int i = 0; i < 12; ++i) hold(of_set("book-" + std::to_string(i), 1, "n1"), 1);
  const Plan plan = reconcile_reclaim(snapshot());
  EXPECT_THAT(plan.objects, SizeIs(8));
  for (const ObjectSteps& object : plan.objects) {
    ASSERT_THAT(object.steps, SizeIs(2));
    EXPECT_TRUE(std::holds_alternative<Ask>(object.steps[0])) << "a no keeps it";
  }
  answer("book-0", false);
  EXPECT_THAT(reconcile_reclaim(snapshot()).events,
              Contains(::testing::Field(&EventNote::reason, reasons::kGpusKept)));
}

// Without a queue there is no index.
TEST_F(ReclaimedTest, AlwaysNeedsNoQueue) {
  cluster.erase<GPUQueue>("", "vision");
  choose(IdlePolicy::kAlways);
  hold(of_set("book-0", 1, "n1"), 1);
  EXPECT_THAT(reconcile_reclaim(snapshot()).objects, SizeIs(1));
  choose(IdlePolicy::kNotify);
  EXPECT_EQ(reconcile_reclaim(snapshot()), Plan());
}

TEST_F(ReclaimedTest, NothingIsTakenBackWhileBerthIsStopped) {
  const auto stop = [&](Operations operations) {
    GPUClusterPolicy policy = *cluster.gpu_policies().find("cluster");
    policy.spec.operations = operations;
    add(policy);
  };
  run("sleeps", 8, "n1"), run("works", 8, "n2"), work("works-0");
  choose(IdlePolicy::kAlways);
  EXPECT_THAT(reconcile_reclaim(snapshot()).objects, SizeIs(1));
  stop(Operations::kStopped);
  EXPECT_EQ(reconcile_reclaim(snapshot()), Plan());
  choose(IdlePolicy::kOnPressure);
  wait_for("train", 4);
  begin();
  stop(Operations::kStopped);
  EXPECT_TRUE(decides_nothing());
  stop(Operations::kNormal);
  decide();
  EXPECT_THAT(entry("train").ahead, SizeIs(1));
}

// If one member of a gang is active, the whole gang stays.
TEST_F(ReclaimedTest, AGangGoesWholeOrNotAtAll) {
  choose(IdlePolicy::kAlways);
  for (const char* name : {"m0", "m1"}) {
    berth::Pod pod = member_of(name, "", "ReplicaSet");
    note_long_ago(pod.meta, name, 8);
    pod.node_name = "n1", pod.phase = PodPhase::kRunning;
    hold(pod, 4);
  }
  const Plan both = reconcile_reclaim(snapshot());
  ASSERT_THAT(both.objects, SizeIs(1)) << "a no for one keeps all";
  EXPECT_THAT(both.objects[0].steps, SizeIs(4));
  work("m1");
  EXPECT_THAT(reconcile_reclaim(snapshot()).objects, IsEmpty());
}

}  // namespace
}  // namespace berth::queue
