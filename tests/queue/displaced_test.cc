// SPDX-License-Identifier: Apache-2.0
// How a workload is preempted or reclaimed (rule 9), step by step over stores: the ledger names it,
// berth gives notice, then stops it, and only once it is gone the other workload starts.
#include "controller/queue/recall/displaced.h"

#include <functional>

#include "apis/base/reasons.h"
#include "tests/queue/admitted_fixture.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr char kLent[] = "Job/b/lent";
constexpr char kTrain[] = "Job/a/train";

// "vision" reclaims its sixteen GPUs, which "nlp" has borrowed.
class DisplacedTest : public AdmittedTest {
 protected:
  DisplacedTest() {
    add(namespace_of("b", "nlp")), add(queue_of("nlp", 0));
    configure({.reclaim_within_cohort = ReclaimWithinCohort::kAny});
  }
  void configure(const QueuePreemption& preemption) {
    GPUQueue vision = queue_of("vision", 16);
    vision.spec.preemption = preemption;
    add(vision);
  }
  void note_lent(ObjectMeta& meta, const std::string& uid, std::int64_t pods) {
    meta.annotations.set(names::kAdmittedAnnotation,
                         encode_admission({.uid = uid,
                                           .queue = "nlp",
                                           .cohort = "research",
                                           .pool = "training",
                                           .pods = pods,
                                           .amounts = {{"nvidia.com/gpu", 8 * pods}},
                                           .since = admitted_at.time_since_epoch().count()}));
  }
  // Two pods with eight GPUs, on n1 and n2.
  void start_lent() {
    berth::Job job = job_of("b", "lent", 8);
    job.suspended = false, job.active = 2;
    job.parallelism = job.completions.emplace() = 2;
    note_lent(job.meta, "lent", 2);
    add(job);
    for (const char* node : {"n1", "n2"}) {
      berth::Pod pod = pod_of(job, std::string("lent-") + node, node);
      pod.meta.namespace_ = "b";
      pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(8));
      add(pod);
    }
  }
  // A member of a gang of two pods, which a ReplicaSet re-creates.
  berth::Pod lent_member(const std::string& name, const std::string& node) {
    berth::Pod pod = member_of(name, "");
    pod.meta.namespace_ = "b";
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(8));
    pod.node_name = node, pod.phase = PodPhase::kRunning;
    note_lent(pod.meta, name, 2);
    return pod;
  }
  // A pod whose Job of two pods is gone.
  berth::Pod lent_orphan(const std::string& name, const std::string& node) {
    berth::Pod pod = lent_member(name, node);
    pod.meta.labels.erase(names::kPodGroupLabel);
    pod.meta.labels.set("batch.kubernetes.io/controller-uid", "sweep");
    note_lent(pod.meta, "sweep", 2);
    pod.meta.owner_references.clear();
    return pod;
  }
  berth::Pod made_anew(const std::string& name) {
    berth::Pod pod = lent_member(name, "");
    pod.phase = PodPhase::kPending;
    pod.meta.annotations.erase(names::kAdmittedAnnotation);
    pod.shape.edit()->scheduling_gates = {names::kQueueGate};
    return pod;
  }
  void wait_for(const std::string& name, int gpus) { add(job_of("a", name, gpus)); }
  berth::Job& lent() {
    scratch = *cluster.jobs().find("b", "lent");
    return scratch;
  }
  void suspend_lent() {
    lent().suspended = true;
    add(scratch);
  }
  void lose(const std::string& pod) { cluster.erase<berth::Pod>("b", pod); }
  void answer(const std::string& name, bool yes) {
    const berth::Pod& pod = *cluster.pods().find("b", name);
    answers.put(question(Ask{ref_of(pod), pod.meta.resource_version}),
                {.yes = yes,
                 .error = {ErrorKind::kThrottled, "the budget is used up"},
                 .against = pod.meta.resource_version,
                 .at = now});
  }
  LedgerFact entry() { return read_admissions(snapshot()).entries.at("train"); }

  Time admitted_at = now - 1h;
  berth::Job scratch;
};

TEST_F(DisplacedTest, TheLedgerNamesWhoHasToGoFirst) {
  start_lent(), wait_for("train", 8);
  begin(), decide();
  EXPECT_THAT(entry().ahead,
              ElementsAre(AheadFact{kLent, "lent", admitted_at.time_since_epoch().count(), true}));
  EXPECT_EQ(decode_entry(encode_entry(entry())), entry());
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty()) << "it is decided once";
  EXPECT_TRUE(reconcile_release(snapshot(), kTrain).empty()) << "before it is free nobody comes";
  EXPECT_THAT(due(), Contains(std::string("requeue/") + kLent));
  EXPECT_THAT(due(), Not(Contains(std::string("release/") + kTrain)));
}

TEST_F(DisplacedTest, AJobIsSuspendedOnceAndSaysForWhom) {
  start_lent(), wait_for("train", 8);
  begin(), decide();
  const Plan stops = plan(kLent);
  ASSERT_THAT(stops.objects, SizeIs(1));
  ASSERT_THAT(stops.objects[0].steps, SizeIs(1));
  const nlohmann::json body = body_of(stops);
  EXPECT_EQ(body["spec"], nlohmann::json({{"suspend", true}}));
  EXPECT_TRUE(body["metadata"].contains("resourceVersion")) << "it may have ended meanwhile";
  EXPECT_EQ(body["metadata"]["annotations"][names::kPreemptedAnnotation],
            "2026-11-21T12:00:00Z for Job/a/train of queue vision");
  ASSERT_THAT(stops.events, SizeIs(1));
  EXPECT_EQ(stops.events[0].reason, reasons::kPreempted);
  EXPECT_THAT(stops.events[0].note, HasSubstr("vision takes back what was lent"));
  suspend_lent();
  EXPECT_EQ(plan(kLent), Plan());
}

TEST_F(DisplacedTest, WhoItIsForBeginsWhenTheLastPodIsGone) {
  start_lent();
  berth::Job train = job_of("a", "train", 8);
  train.parallelism = train.completions.emplace() = 2;
  add(train);
  begin(), decide();
  suspend_lent(), lose("lent-n1");
  now += 30s;
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty()) << "though n1 is free";
  lose("lent-n2");
  decide();
  EXPECT_THAT(entry().ahead, IsEmpty());
  EXPECT_EQ(entry().admission.since, now.time_since_epoch().count()) << "its time begins now";
  EXPECT_THAT(due(), Contains(std::string("release/") + kTrain));
  EXPECT_EQ(body_of(reconcile_release(snapshot(), kTrain))["spec"]["suspend"], false);
}

// --- Notices ---

TEST_F(DisplacedTest, WhoeverHasToGoIsToldAndStoppedWhenTheNoticeHasRunOut) {
  configure({.reclaim_within_cohort = ReclaimWithinCohort::kAny, .notice_period = 2min});
  start_lent(), wait_for("train", 8);
  begin(), decide();
  EXPECT_THAT(done(kLent),
              ElementsAre("mergepatch lent", "mergepatch lent-n1", "mergepatch lent-n2"));
  const Plan tells = plan(kLent);
  EXPECT_EQ(tells.requeue_after, 2min);
  for (std::size_t i = 0; i < tells.objects.size(); ++i) {
    const nlohmann::json body = body_of(tells, i);
    EXPECT_EQ(body["metadata"]["annotations"][names::kPreemptionNoticeAnnotation],
              "2026-11-21T12:02:00Z");
    EXPECT_FALSE(body.contains("spec"));
  }
  lent().meta.annotations.set(names::kPreemptionNoticeAnnotation, "2026-11-21T12:02:00Z");
  add(scratch);
  EXPECT_THAT(done(kLent), ElementsAre("mergepatch lent-n1", "mergepatch lent-n2")) << "each once";
  now += 119s;
  EXPECT_THAT(done(kLent), Each(HasSubstr("lent-n")));
  now += 1s;
  EXPECT_EQ(body_of(plan(kLent))["spec"]["suspend"], true);
}

TEST_F(DisplacedTest, WhoeverDoesNotBeginToLeaveWithinAMinuteOfHisNoticeStays) {
  configure({.reclaim_within_cohort = ReclaimWithinCohort::kAny, .notice_period = 2min});
  start_lent(), wait_for("train", 8);
  begin(), decide();
  now += 10s;
  EXPECT_EQ(reconcile_admissions(snapshot()).requeue_after, 170s);
  now += 169s;
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty());
  now += 1s;
  answers.put(question(Write{.verb = Verb::kMergePatch,
                             .object = ref_of(lent()),
                             .field_manager = names::kManagerQueue}),
              {.error = {ErrorKind::kForbidden, "not on Fridays"},
               .at = now,
               .object = ref_of(lent()).str(),
               .field_manager = names::kManagerQueue});
  decide();
  EXPECT_THAT(in_flight(), IsEmpty());
  EXPECT_EQ(plan(kLent), Plan());
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty())
      << "who can't be suspended is not chosen again";
}

// --- Gangs of pods ---

TEST_F(DisplacedTest, BeforeAGangGoesEachOfItIsAskedAbout) {
  add(lent_member("m0", "n1")), add(lent_member("m1", "n2")), wait_for("train", 8);
  begin();
  const Plan asks = reconcile_admissions(snapshot());
  ASSERT_THAT(asks.objects, SizeIs(2));
  for (const ObjectSteps& of : asks.objects)
    EXPECT_TRUE(std::holds_alternative<Ask>(of.steps.at(0))) << "nothing is decided yet";
  answer("m0", true), answer("m1", true);
  decide();
  EXPECT_THAT(in_flight(), ElementsAre(kTrain));
  const Plan evicts = plan("PodGroup/b/gang");
  ASSERT_THAT(evicts.objects, SizeIs(1)) << "a no for one keeps all";
  ASSERT_THAT(evicts.objects[0].steps, SizeIs(4));
  EXPECT_TRUE(std::holds_alternative<Ask>(evicts.objects[0].steps[1]));
  EXPECT_THAT(done("PodGroup/b/gang"), ElementsAre("evict m0", "evict m1"));
  EXPECT_THAT(evicts.events, SizeIs(1));
}

// A borrowing workload has agreed to reclaim.
TEST_F(DisplacedTest, AGangThatABudgetKeepsIsDeletedOnceItsTimeIsOver) {
  add(lent_member("m0", "n1")), add(lent_member("m1", "n2")), wait_for("train", 8);
  begin();
  answer("m0", true), answer("m1", false);
  decide();
  EXPECT_THAT(in_flight(), ElementsAre(kTrain));
  now += 10min - 1s;
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty()) << "it is not given up meanwhile";
  EXPECT_THAT(done("PodGroup/b/gang"), ElementsAre("evict m0", "evict m1"));
  now += 1s;
  const Plan deletes = plan("PodGroup/b/gang");
  EXPECT_THAT(done("PodGroup/b/gang"), ElementsAre("delete m0", "delete m1"));
  for (const Step& step : deletes.objects.at(0).steps)
    EXPECT_EQ(std::get<Write>(step).grace_period_seconds, std::nullopt) << "with its own";
  ASSERT_THAT(deletes.events, SizeIs(1));
  EXPECT_THAT(deletes.events[0].note, HasSubstr("its disruption budget has kept it"));
  now += 1min;
  decide();
  EXPECT_THAT(in_flight(), IsEmpty()) << "the API server keeps it all the same";
}

// The chart's policies refuse a deletion without a grace period, and a pod may have a period of 0.
TEST_F(DisplacedTest, APodThatGivesItselfNoTimeHasASecond) {
  for (const char* name : {"m0", "m1"}) {
    berth::Pod pod = lent_member(name, name[1] == '0' ? "n1" : "n2");
    pod.termination_grace_period_seconds = 0;
    add(pod);
  }
  wait_for("train", 8);
  begin();
  answer("m0", true), answer("m1", false);
  decide();
  const auto expect_a_second = [&](Verb verb) {
    const Plan removals = plan("PodGroup/b/gang");
    for (const Step& step : removals.objects.at(0).steps) {
      const auto* write = std::get_if<Write>(&step);
      if (write == nullptr) continue;
      EXPECT_EQ(write->verb, verb);
      EXPECT_EQ(write->grace_period_seconds, 1);
    }
  };
  expect_a_second(Verb::kEvict);
  now += 10min;
  EXPECT_THAT(done("PodGroup/b/gang"), ElementsAre("delete m0", "delete m1"));
  expect_a_second(Verb::kDelete);
}

TEST_F(DisplacedTest, TheReclaimingQueueSaysForHowLongABudgetKeeps) {
  configure({.reclaim_within_cohort = ReclaimWithinCohort::kAny,
             .notice_period = 1min,
             .reclaim_timeout = 30s});
  add(lent_member("m0", "n1")), add(lent_member("m1", "n2")), wait_for("train", 8);
  begin();
  answer("m0", false), answer("m1", false);
  decide();
  now += 89s;
  EXPECT_THAT(done("PodGroup/b/gang"), ElementsAre("evict m0", "evict m1"));
  now += 1s;
  EXPECT_THAT(done("PodGroup/b/gang"), ElementsAre("delete m0", "delete m1"));
}

TEST_F(DisplacedTest, WhatTheNominalQuotaHasComeToPayForIsNotDeleted) {
  add(lent_member("m0", "n1")), add(lent_member("m1", "n2")), wait_for("train", 8);
  begin();
  answer("m0", false), answer("m1", false);
  decide();
  add(queue_of("nlp", 16));
  now += 10min;
  EXPECT_THAT(done("PodGroup/b/gang"), ElementsAre("evict m0", "evict m1"));
}

TEST_F(DisplacedTest, AGangOfItsOwnQueueThatABudgetKeepsStays) {
  configure({.within_queue = WithinQueue::kLowerPriority});
  berth::Pod m0 = lent_member("m0", "n1"), m1 = lent_member("m1", "n2");
  for (berth::Pod* pod : {&m0, &m1}) {
    note(pod->meta, pod->meta.name, {}, 16);
    pod->meta.namespace_ = "a";
    add(*pod);
  }
  berth::Job urgent = job_of("a", "train", 8);
  urgent.meta.labels.set(names::kPriorityClassLabel, "high");
  PriorityClass high;
  high.meta.name = "high", high.value = 7;
  add(high), add(urgent);
  begin();
  for (const char* name : {"m0", "m1"}) {
    const berth::Pod& pod = *cluster.pods().find("a", name);
    answers.put(question(Ask{ref_of(pod), pod.meta.resource_version}),
                {.yes = false, .error = {ErrorKind::kThrottled, "no"}, .at = now});
  }
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty());
}

TEST_F(DisplacedTest, MembersThatAreMadeAnewAreNotLetGoInThePlaceOfTheOld) {
  add(lent_member("m0", "n1")), add(lent_member("m1", "n2")), wait_for("train", 8);
  begin();
  answer("m0", true), answer("m1", true);
  decide();
  lose("m0");
  berth::Pod leaves = *cluster.pods().find("b", "m1");
  leaves.meta.deletion_timestamp = now;
  add(leaves), add(made_anew("m2"));
  EXPECT_TRUE(reconcile_release(snapshot(), "PodGroup/b/gang").empty());
  EXPECT_THAT(due(), Not(Contains("release/PodGroup/b/gang")));
  EXPECT_THAT(done("PodGroup/b/gang"), IsEmpty());
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty()) << "n2 is not free yet";
  lose("m1"), add(made_anew("m3"));
  decide();
  EXPECT_THAT(entry().ahead, IsEmpty());
  EXPECT_TRUE(reconcile_release(snapshot(), "PodGroup/b/gang").empty()) << "it waits again";
}

// --- Changes meanwhile ---

TEST_F(DisplacedTest, WithoutWhomItIsForNobodyGoes) {
  start_lent(), wait_for("train", 8);
  begin(), decide();
  cluster.erase<berth::Job>("a", "train");
  EXPECT_EQ(plan(kLent), Plan());
  decide();
  EXPECT_THAT(in_flight(), IsEmpty());
  EXPECT_THAT(due(), Not(Contains(std::string("requeue/") + kLent)));
}

TEST_F(DisplacedTest, TheNextLeaderGoesOnOnceTheLedgerIsItsOwn) {
  start_lent(), wait_for("train", 8);
  begin(), decide();
  epoch = 4;
  EXPECT_EQ(plan(kLent), Plan()) << "the leader before may have changed the ledger";
  begin();
  EXPECT_THAT(done(kLent), ElementsAre("mergepatch lent"));
  suspend_lent(), lose("lent-n1"), lose("lent-n2");
  decide();
  EXPECT_FALSE(reconcile_release(snapshot(), kTrain).empty());
}

TEST_F(DisplacedTest, WhoeverRunsAgainUnderANewAdmissionIsNotMeant) {
  start_lent(), wait_for("train", 8);
  begin(), decide();
  admitted_at = now;
  start_lent();
  EXPECT_EQ(plan(kLent), Plan());
  decide();
  EXPECT_THAT(entry().ahead, IsEmpty()) << "those it waited for are gone";
}

// An edit of the Job affects only where it waits afterwards.
TEST_F(DisplacedTest, WhatIsWrittenOnAJobThatRunsKeepsItFromNothing) {
  const std::function<void(ObjectMeta&)> writings[] = {
      [](ObjectMeta& meta) { meta.annotations.set(names::kHoldAnnotation, "mine"); },
      [](ObjectMeta& meta) { meta.labels.set(names::kKueueQueueLabel, "theirs"); },
      [](ObjectMeta& meta) { meta.labels.set(names::kQueueLabel, "nobodys"); },
      [](ObjectMeta& meta) { meta.annotations.set("x", std::string((256 << 10) - 500, 'x')); },
  };
  for (const auto& write : writings) {
    start_lent(), wait_for("train", 8);
    write(lent().meta);
    add(scratch);
    epoch += 1;
    begin(), decide();
    EXPECT_THAT(done(kLent), ElementsAre("mergepatch lent"));
    suspend_lent();
    const FactsIndex& facts = cluster.view<ClusterIndex>().facts();
    EXPECT_TRUE(facts.find(kLent)->standing.leaves);
    for (const char* pod : {"lent-n1", "lent-n2"}) lose(pod);
    cluster.erase<berth::Job>("b", "lent"), cluster.erase<berth::Job>("a", "train");
    decide();
    ASSERT_THAT(in_flight(), IsEmpty());
  }
}

TEST_F(DisplacedTest, AJobWhoseAnnotationsAreFullIsStoppedWithoutAWord) {
  configure({.reclaim_within_cohort = ReclaimWithinCohort::kAny, .notice_period = 2min});
  start_lent(), wait_for("train", 8);
  const std::size_t used = 1 + std::string_view(names::kAdmittedAnnotation).size() +
                           lent().meta.annotations.get(names::kAdmittedAnnotation).view().size();
  lent().meta.annotations.set("x", std::string((256 << 10) - used, 'x'));
  add(scratch);
  begin(), decide();
  EXPECT_THAT(done(kLent), ElementsAre("mergepatch lent-n1", "mergepatch lent-n2"));
  now += 2min;
  const nlohmann::json body = body_of(plan(kLent));
  EXPECT_EQ(body["spec"]["suspend"], true);
  EXPECT_FALSE(body["metadata"].contains("annotations"));
}

TEST_F(DisplacedTest, PodsThatNobodyMakesAnewAreNotChosen) {
  berth::Pod alone = lent_member("m0", "n1");
  alone.meta.owner_references.clear();
  add(alone), add(lent_member("m1", "n2")), wait_for("train", 8);
  begin();
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty());
}

// A user has removed its controller since.
TEST_F(DisplacedTest, PodsThatSomebodyWouldHaveMadeAnewAreChosen) {
  for (const char* name : {"m0", "m1"}) {
    berth::Pod pod = lent_member(name, name[1] == '0' ? "n1" : "n2");
    AdmissionFact record = *admission_on(pod.meta);
    record.maker = "web";
    pod.meta.annotations.set(names::kAdmittedAnnotation, encode_admission(record));
    pod.meta.owner_references.clear();
    add(pod);
  }
  wait_for("train", 8);
  begin();
  answer("m0", true), answer("m1", true);
  decide();
  EXPECT_THAT(in_flight(), ElementsAre(kTrain));
  EXPECT_THAT(done("PodGroup/b/gang"), ElementsAre("evict m0", "evict m1"));
}

// A Job's deletion leaves its pods behind unless it says otherwise (batch/v1).
TEST_F(DisplacedTest, AnOrphanOfAJobGivesBackWhatItsJobBorrowed) {
  add(lent_orphan("s0", "n1")), add(lent_orphan("s1", "n2"));
  wait_for("train", 8);
  begin();
  answer("s0", true), answer("s1", true);
  decide();
  EXPECT_THAT(in_flight(), ElementsAre(kTrain));
  EXPECT_THAT(done("Pod/b/s0"), ElementsAre("evict s0"));
  EXPECT_THAT(done("Pod/b/s1"), IsEmpty()) << "one suffices";
}

// berth does not know that controller, which might not re-create the pod.
TEST_F(DisplacedTest, AnOrphanThatAnotherControllerHasTakenGivesItBackToo) {
  for (const auto& [name, node] : {std::pair("s0", "n1"), std::pair("s1", "n2")}) {
    berth::Pod pod = lent_orphan(name, node);
    pod.never_restarts = true;
    pod.meta.owner_references = {
        {.kind = "CloneSet", .name = "web", .uid = "web", .controller = true}};
    add(pod);
  }
  wait_for("train", 8);
  begin();
  answer("s0", true), answer("s1", true);
  decide();
  EXPECT_THAT(in_flight(), ElementsAre(kTrain));
  EXPECT_THAT(done("Pod/b/s0"), ElementsAre("evict s0"));
}

TEST_F(DisplacedTest, APodThatBearsTheRecordOfAJobThatIsNotItsOwnIsNotChosen) {
  berth::Pod pod = lent_member("copy", "n1");
  pod.meta.labels.erase(names::kPodGroupLabel);
  note_lent(pod.meta, "sweep", 2);
  pod.meta.owner_references.clear();
  add(pod), wait_for("train", 16);
  begin();
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty());
}

// The status of the pending workload names the gang that must stay.
TEST_F(DisplacedTest, AGangThatWouldFailIsNotChosenAndWhoWaitsIsTold) {
  for (const char* name : {"m0", "m1"}) {
    berth::Pod pod = lent_member(name, name[1] == '0' ? "n1" : "n2");
    pod.never_restarts = true;
    pod.meta.owner_references = {{.api_version = "kubeflow.org/v1",
                                  .kind = "TFJob",
                                  .name = "tf",
                                  .uid = "tf",
                                  .controller = true}};
    add(pod);
  }
  wait_for("train", 8);
  begin();
  const Plan asks = reconcile_admissions(snapshot());
  ASSERT_THAT(asks.objects, SizeIs(3)) << "both pods, and their controller once";
  answer("m0", true), answer("m1", true);
  const auto read = [&](const char* policy) {
    for (const ObjectSteps& object : reconcile_admissions(snapshot()).objects) {
      const auto* look = std::get_if<Guard>(&object.steps.at(0));
      if (look == nullptr) continue;
      const auto refusal =
          look->refuse_object(R"({"metadata":{"uid":"tf"},"spec":{"tfReplicaSpecs":{"Worker":)" +
                              std::string(policy) + "}}}");
      answers.put(
          question(*look),
          {.yes = !refusal, .error = {ErrorKind::kConflict, refusal.value_or("")}, .at = now});
    }
  };
  read("{}");
  EXPECT_TRUE(reconcile_admissions(snapshot()).objects.empty());
  EXPECT_THAT(in_flight(), IsEmpty());
  const FactsIndex& facts = cluster.view<ClusterIndex>().facts();
  const Snapshot now_here = snapshot();
  const Survey survey(facts, 100, preemption_terms(now_here));
  const Outcome outcome = survey.outcome(*facts.find(kTrain));
  EXPECT_EQ(reason_of(outcome), reasons::kWaitingForQuota);
  EXPECT_THAT(describe_kept(now_here, outcome),
              HasSubstr("PodGroup/b/gang can't be taken back: TFJob b/tf would fail"));
  now += 61s;
  answer("m0", true), answer("m1", true);
  read(R"({"restartPolicy":"OnFailure"})");
  decide();
  EXPECT_THAT(in_flight(), ElementsAre(kTrain));
  const Plan evicts = plan("PodGroup/b/gang");
  ASSERT_THAT(evicts.objects, SizeIs(1));
  ASSERT_THAT(evicts.objects[0].steps, SizeIs(5));
  EXPECT_TRUE(std::holds_alternative<Guard>(evicts.objects[0].steps[0])) << "read once more";
}

TEST_F(DisplacedTest, TimeIsToldUntilSomebodyHasRunForLongEnough) {
  configure({.reclaim_within_cohort = ReclaimWithinCohort::kAny, .reclaim_min_runtime = 90min});
  start_lent(), wait_for("train", 8);
  begin();
  EXPECT_EQ(reconcile_admissions(snapshot()).requeue_after, 30min);
  now += 30min;
  decide();
  EXPECT_THAT(in_flight(), ElementsAre(kTrain));
}

TEST_F(DisplacedTest, ABudgetKeepsForReclaimTimeoutUnderEachLeader) {
  add(lent_member("m0", "n1")), add(lent_member("m1", "n2")), wait_for("train", 8);
  begin();
  answer("m0", false), answer("m1", false);
  decide();
  now += 1h;
  attention.since = now;
  EXPECT_THAT(done("PodGroup/b/gang"), ElementsAre("evict m0", "evict m1"));
  now += 10min;
  EXPECT_THAT(done("PodGroup/b/gang"), ElementsAre("delete m0", "delete m1"));
}

TEST_F(DisplacedTest, WhileTheClockIsWrongNobodyIsDisplaced) {
  configure({.reclaim_within_cohort = ReclaimWithinCohort::kAny, .notice_period = 1min});
  add(lent_member("m0", "n1")), add(lent_member("m1", "n2")), wait_for("train", 8);
  begin();
  answer("m0", false), answer("m1", false);
  decide();
  attention.clock_skew = 1h;
  for (const Duration later : {Duration(0), Duration(10min)}) {
    now += later;
    EXPECT_THAT(done("PodGroup/b/gang"), IsEmpty()) << "nor is a time told";
  }
  EXPECT_EQ(plan("PodGroup/b/gang").requeue_after, kMaxClockSkew);
}

}  // namespace
}  // namespace berth::queue
