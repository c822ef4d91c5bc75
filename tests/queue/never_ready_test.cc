// SPDX-License-Identifier: Apache-2.0
// Jobs whose pods are not all Ready in time: berth requeues them and delays them, longer each time,
// and finally until a user changes them.
#include "controller/queue/recall/never_ready.h"

#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/facts/backoff.h"
#include "controller/queue/record/setback.h"
#include "tests/queue/admitted_fixture.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr char kTrain[] = "Job/a/train";
constexpr char kDue[] = "requeue/Job/a/train";

class NeverReadyTest : public AdmittedTest {
 protected:
  NeverReadyTest() {
    GPUQueue queue = queue_of("vision", 16);
    queue.spec.pods_ready_timeout = 10min;
    add(queue);
  }
  // Two pods on n1 and n2, of which the first has been Ready.
  berth::Job start() {
    berth::Job made = job();
    made.meta.generation = 2;
    made.active = 2;
    add(made);
    put_pod("train-0", "n1", true), put_pod("train-1", "n2", false);
    return made;
  }
  void put_pod(const std::string& name, const std::string& node, bool has_been_ready) {
    berth::Pod pod = pod_of(job(), name, node);
    pod.meta.creation_timestamp = now;
    pod.has_been_ready = has_been_ready;
    add(pod);
  }
  const berth::Job& train() const { return *cluster.jobs().find("a", "train"); }
  // Applies the one due write to the Job as the API server would.
  void take_write() {
    const Plan made = plan(kTrain);
    ASSERT_FALSE(made.objects.empty());
    const nlohmann::json body =
        nlohmann::json::parse(std::get<Write>(made.objects[0].steps.back()).body);
    berth::Job job = train();
    if (const auto spec = body.find("spec"); spec != body.end()) {
      job.suspended = spec->at("suspend").get<bool>();
      ++job.meta.generation;
    }
    const auto& annotation = body.at("metadata").at("annotations").at(names::kNeverReadyAnnotation);
    job.meta.annotations.erase(names::kNeverReadyAnnotation);
    if (annotation.is_string())
      job.meta.annotations.set(names::kNeverReadyAnnotation, annotation.get<std::string>());
    add(job);
  }
  void lose_pods() {
    for (const char* name : {"train-0", "train-1"}) cluster.erase<berth::Pod>("a", name);
    berth::Job job = train();
    job.active = 0, job.has_been_suspended = true;
    add(job);
  }
  // The queue has admitted it again, and its pods start.
  void resume() {
    berth::Job job = train();
    job.suspended = false, job.active = 2;
    ++job.meta.generation;
    note(job.meta, "train", {"n1", "n2"}, 8);
    add(job);
    put_pod("train-0", "n1", false), put_pod("train-1", "n2", false);
  }
  Setback setback() const { return setback_on(train().meta).value_or(Setback()); }
  std::string reason() const {
    const FactsIndex& facts = cluster.view<ClusterIndex>().facts();
    const Survey survey(facts, 100);
    const Outcome outcome = survey.outcome(*facts.find(kTrain));
    return reason_of(outcome) + ": " + describe(outcome, facts.catalog());
  }
  std::vector<std::string> admitted() {
    Cycle cycle(cluster.view<ClusterIndex>().facts());
    cycle.run(kWindow);
    std::vector<std::string> names;
    for (const Admission& admission : cycle.admissions())
      names.push_back(*admission.workload->name);
    return names;
  }
};

TEST_F(NeverReadyTest, AJobWithAPodThatIsNotReadyInTimeIsTakenBackWhole) {
  start();
  EXPECT_THAT(due(), Contains(kDue)) << "also by a leader that finds it so";
  EXPECT_THAT(done(kTrain), IsEmpty());
  EXPECT_EQ(plan(kTrain).requeue_after, 10min);
  now += 10min;
  EXPECT_THAT(print(plan(kTrain)), HasSubstr("train-1")) << "whether it may go is asked before";
  EXPECT_THAT(done(kTrain), ElementsAre("mergepatch train"));
  take_write();
  EXPECT_TRUE(train().suspended);
  EXPECT_EQ(setback(), (Setback{1, train().meta.generation, now + 1min}));
}

TEST_F(NeverReadyTest, OnceAllHaveBeenReadyTheyMayRestart) {
  start();
  put_pod("train-1", "n2", true);
  now += 24h;
  EXPECT_EQ(plan(kTrain), Plan());
}

TEST_F(NeverReadyTest, APodThatIsMadeLaterHasItsOwnTime) {
  start();
  now += 1h;
  put_pod("train-1", "n2", false);
  EXPECT_THAT(done(kTrain), IsEmpty());
  EXPECT_EQ(plan(kTrain).requeue_after, 10min);
}

TEST_F(NeverReadyTest, APodThatIsOnNoNodeIsNotReady) {
  start();
  put_pod("train-1", "", false);
  now += 10min;
  EXPECT_THAT(done(kTrain), ElementsAre("mergepatch train"));
}

// A ResourceQuota may prevent the last pod; a finished pod is being replaced.
TEST_F(NeverReadyTest, PodsThatWereNeverMadeAreNotReady) {
  berth::Job made = start();
  cluster.erase<berth::Pod>("a", "train-1");
  now += 10min;
  EXPECT_EQ(plan(kTrain), Plan()) << "its status is of before the pod went";
  made.active = 1;
  add(made);
  EXPECT_THAT(done(kTrain), ElementsAre("mergepatch train"));
  for (std::int32_t berth::Job::*ended : {&berth::Job::failed, &berth::Job::succeeded,
                                          &berth::Job::uncounted, &berth::Job::terminating}) {
    berth::Job replaced = made;
    replaced.*ended = 1;
    replaced.completions = 4;
    add(replaced);
    EXPECT_EQ(plan(kTrain), Plan());
  }
}

TEST_F(NeverReadyTest, WithoutATimeNobodyIsLate) {
  add(queue_of("vision", 16));
  start();
  now += 24h;
  EXPECT_EQ(plan(kTrain), Plan());
  EXPECT_THAT(due(), Not(Contains(kDue)));
}

TEST_F(NeverReadyTest, BudgetsAndQueuesThatHoldKeepItWhereItIs) {
  start();
  now += 10min;
  PodDisruptionBudget budget;
  budget.meta.namespace_ = "a";
  budget.meta.name = budget.meta.uid = "keep";
  budget.selector.emplace();
  budget.current_healthy = budget.desired_healthy = 1;
  add(budget);
  EXPECT_THAT(done(kTrain), IsEmpty());
  cluster.erase<PodDisruptionBudget>("a", "keep");
  GPUQueue held = *cluster.gpu_queues().find("vision");
  held.spec.stop_policy = StopPolicy::kHold;
  add(held);
  EXPECT_THAT(done(kTrain), IsEmpty());
}

TEST_F(NeverReadyTest, NobodyIsTakenBackWhileBerthIsStoppedAndABackoffEnds) {
  const auto stop = [&](Operations operations) {
    GPUClusterPolicy policy = policy_with("training");
    policy.spec.operations = operations;
    add(policy);
  };
  start();
  now += 10min;
  stop(Operations::kStopped);
  EXPECT_EQ(plan(kTrain), Plan());
  stop(Operations::kNormal);
  take_write(), lose_pods();
  stop(Operations::kStopped);
  EXPECT_EQ(plan(kTrain).requeue_after, 1min);
  now += 1min;
  EXPECT_THAT(done(kTrain), ElementsAre("mergepatch train"));
  take_write();
  EXPECT_THAT(admitted(), ElementsAre(kTrain));
}

TEST_F(NeverReadyTest, ItIsLeftOutForAWhileAndInNobodysWay) {
  GPUQueue strict = *cluster.gpu_queues().find("vision");
  strict.spec.queueing_strategy = QueueingStrategy::kStrictFIFO;
  add(strict);
  start();
  now += 10min;
  take_write(), lose_pods();
  berth::Job later = job_of("a", "later", 1);
  later.meta.creation_timestamp = now;
  add(later);
  EXPECT_THAT(admitted(), ElementsAre("Job/a/later"));
  EXPECT_EQ(reason(),
            "BackingOff: not all of its pods were Ready in time, 1 of 5 times; it queues again "
            "after 1m");
  EXPECT_THAT(due(), Contains(kDue));
  EXPECT_EQ(plan(kTrain).requeue_after, 1min);
  now += 1min;
  take_write();
  EXPECT_EQ(setback(), (Setback{1, train().meta.generation, std::nullopt}));
  EXPECT_THAT(admitted(), ElementsAre(kTrain, "Job/a/later"));
}

TEST_F(NeverReadyTest, AfterFiveTimesInARowItWaitsForSomebody) {
  start();
  for (const Duration backoff : {1min, 2min, 4min, 8min}) {
    now += 10min;
    take_write(), lose_pods();
    ASSERT_EQ(setback().until, now + backoff);
    now += backoff;
    take_write(), resume();
  }
  now += 10min;
  take_write(), lose_pods();
  EXPECT_EQ(setback(), (Setback{5, train().meta.generation, std::nullopt}));
  EXPECT_THAT(admitted(), IsEmpty());
  EXPECT_THAT(reason(), HasSubstr("NotReady: not all of its pods were Ready in time, 5 times"));
  now += 24h;
  EXPECT_EQ(plan(kTrain), Plan());
  EXPECT_THAT(due(), Not(Contains(kDue)));
}

TEST_F(NeverReadyTest, WhoeverTouchesItEndsTheWait) {
  start();
  const auto set_back = [&](std::int64_t times) {
    berth::Job job = train();
    job.suspended = true;
    job.meta.annotations.set(names::kNeverReadyAnnotation,
                             encode_setback({times, job.meta.generation, std::nullopt}));
    add(job);
    lose_pods();
  };
  set_back(5);
  ASSERT_THAT(admitted(), IsEmpty());
  berth::Job edited = train();
  ++edited.meta.generation;
  add(edited);
  EXPECT_THAT(admitted(), ElementsAre(kTrain));
  resume();
  now += 10min;
  take_write();
  EXPECT_EQ(setback().times, 1) << "it begins anew";
  set_back(5);
  berth::Job forgiven = train();
  forgiven.meta.annotations.erase(names::kNeverReadyAnnotation);
  add(forgiven);
  EXPECT_THAT(admitted(), ElementsAre(kTrain));
}

TEST_F(NeverReadyTest, WhatHasBegunForgetsHowOftenItDidNot) {
  start();
  now += 10min;
  take_write(), lose_pods();
  now += 1min;
  take_write(), resume();
  put_pod("train-0", "n1", true);
  EXPECT_THAT(done(kTrain), IsEmpty());
  put_pod("train-1", "n2", true);
  take_write();
  EXPECT_EQ(setback(), Setback());
  EXPECT_EQ(plan(kTrain), Plan());
}

TEST_F(NeverReadyTest, TheNextOfAPodsTimeIsADueKeyOfTheQueuesChange) {
  add(queue_of("vision", 16));
  start();
  const GPUQueue old = *cluster.gpu_queues().find("vision");
  GPUQueue timed = old;
  timed.spec.pods_ready_timeout = 1min;
  add(timed);
  EXPECT_THAT(queue_keys_for(cluster, settings, &old, cluster.gpu_queues().find("vision")),
              Contains(kDue));
}

TEST(SetbackTest, WhatIsNoneIsRead) {
  const Setback setback{3, 7, *parse_time("2026-11-21T12:00:00Z")};
  EXPECT_EQ(decode_setback(encode_setback(setback)), setback);
  for (const char* none : {"", "{}", "3", R"({"times":0})", R"({"times":"3"})", R"({"times":-1})",
                           R"({"times":1,"until":"soon"})"})
    EXPECT_EQ(decode_setback(none), std::nullopt) << none;
  EXPECT_EQ(backoff_after(1'000'000'000), backoff_after(kMostSetbacks));
}

}  // namespace
}  // namespace berth::queue
