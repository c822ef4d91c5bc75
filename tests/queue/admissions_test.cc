// SPDX-License-Identifier: Apache-2.0
// Who is admitted is written into the ledger first, then let go, then forgotten there: step by step
// over stores that take each write as the API server would.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/decode.h"
#include "controller/core/ledger_epoch.h"
#include "controller/queue/admission_ledger.h"
#include "controller/queue/cluster_index.h"
#include "controller/queue/facts_from.h"
#include "controller/queue/queue_keys.h"
#include "controller/queue/queue_report.h"
#include "controller/queue/reconcile.h"
#include "tests/queue/queue_objects.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class AdmissionsTest : public ::testing::Test {
 protected:
  AdmissionsTest() {
    add(policy_with("training")), add(node_of("n1", 8)), add(node_of("n2", 8));
    add(namespace_of("a", "vision")), add(queue_of("vision", 16));
  }
  template <class T>
  void add(T object) {
    object.meta.resource_version = std::to_string(++version);
    cluster.upsert(std::move(object), now);
  }
  Snapshot snapshot() const { return {cluster, answers, settings, now, epoch}; }
  static berth::Pod gated(const std::string& name, int gpus) {
    berth::Pod pod;
    pod.meta.namespace_ = "a";
    pod.meta.name = pod.meta.uid = name;
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
    pod.shape.edit()->scheduling_gates = {"example.com/other", names::kQueueGate};
    return pod;
  }
  static berth::Pod member(const std::string& name, const std::string& size) {
    berth::Pod pod = gated(name, 4);
    pod.meta.labels.set(names::kPodGroupLabel, "gang");
    pod.meta.annotations.set(names::kPodGroupSizeAnnotation, size);
    return pod;
  }

  // The ledger as it stands after the write.
  void take_ledger(const Plan& plan) {
    ASSERT_THAT(plan.objects, SizeIs(1));
    const Write& write = std::get<Write>(plan.objects[0].steps.at(0));
    ASSERT_EQ(write.object.name, names::kAdmissionsConfigMap);
    nlohmann::json object = {{"metadata", {{"uid", "ledger"}}}};
    if (const ConfigMap* standing = ledger()) {
      object["metadata"]["annotations"][names::kEpochAnnotation] =
          standing->meta.annotations.get(names::kEpochAnnotation).str();
      object["data"] = standing->data;
    }
    object.merge_patch(nlohmann::json::parse(write.body));
    object["metadata"]["name"] = names::kAdmissionsConfigMap;
    object["metadata"]["namespace"] = settings.berth_namespace;
    std::string text = object.dump();
    add(*decode_object<ConfigMap>(text));
  }
  const ConfigMap* ledger() const {
    return cluster.config_maps().find(settings.berth_namespace, names::kAdmissionsConfigMap);
  }
  std::vector<std::string> in_flight() const {
    std::vector<std::string> workloads;
    for (const auto& [uid, entry] : read_admissions(snapshot()).entries)
      workloads.push_back(entry.workload);
    return workloads;
  }
  // The answer to a release of the object that was sent just now.
  void refuse(const std::string& name, const std::string& kind = "Pod") {
    const Write write{.verb = Verb::kMergePatch,
                      .object = {kind, "a", name, name},
                      .field_manager = names::kManagerQueue,
                      .reason = "admitted"};
    answers.put(question(write), {.error = {ErrorKind::kForbidden, "not on Fridays"},
                                  .against = "1",
                                  .at = now,
                                  .object = write.object.str(),
                                  .field_manager = write.field_manager,
                                  .reason = write.reason});
  }
  void begin() { take_ledger(reconcile_admissions(snapshot())); }
  void decide() { take_ledger(reconcile_admissions(snapshot())); }
  static nlohmann::json body_of(const Plan& plan, std::size_t object = 0) {
    return nlohmann::json::parse(std::get<Write>(plan.objects.at(object).steps.at(0)).body);
  }
  std::vector<std::string> due() const { return all_queue_keys(cluster, settings); }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now = *parse_time("2026-11-21T12:00:00Z");
  std::int64_t epoch = 3;
  int version = 0;
};

TEST_F(AdmissionsTest, ALeaderBeginsItsEpochBeforeItDecides) {
  add(job_of("a", "train", 8));
  begin();
  EXPECT_EQ(epoch_of(*ledger()), 3);
  EXPECT_THAT(in_flight(), IsEmpty());
  decide();
  EXPECT_THAT(in_flight(), ElementsAre("Job/a/train"));
  epoch = 4;
  EXPECT_TRUE(reconcile_release(snapshot(), "Job/a/train").empty())
      << "the ledger may still be changed by the leader before";
  begin();
  EXPECT_THAT(in_flight(), ElementsAre("Job/a/train"));
  EXPECT_FALSE(reconcile_release(snapshot(), "Job/a/train").empty()) << "the next one goes on";
  EXPECT_THAT(due(), Contains("release/Job/a/train"));
}

TEST_F(AdmissionsTest, AJobIsResumedWhereItWasAdmittedAndUnderTheVersionThatWasSeen) {
  add(job_of("a", "train", 8));
  begin(), decide();
  const Plan plan = reconcile_release(snapshot(), "Job/a/train");
  ASSERT_THAT(plan.objects, SizeIs(1));
  const nlohmann::json body = body_of(plan);
  const berth::Job& job = *cluster.jobs().find("a", "train");
  EXPECT_EQ(body["metadata"]["uid"], "train");
  EXPECT_EQ(body["metadata"]["resourceVersion"], job.meta.resource_version);
  EXPECT_EQ(body["spec"]["suspend"], false);
  const nlohmann::json& pods = body["spec"]["template"];
  EXPECT_EQ(pods["spec"]["nodeSelector"], nlohmann::json({{names::kPoolLabel, "training"}}));
  const std::string record = body["metadata"]["annotations"][names::kAdmittedAnnotation];
  EXPECT_EQ(pods["metadata"]["annotations"][names::kAdmittedAnnotation], record);
  const auto admitted = decode_admission(record);
  ASSERT_TRUE(admitted);
  EXPECT_EQ(admitted->uid, "train");
  EXPECT_EQ(admitted->epoch, 3);
  EXPECT_EQ(admitted->since, now.time_since_epoch().count());
  EXPECT_TRUE(admitted->selects_pool);
}

TEST_F(AdmissionsTest, AJobThatChoseItsPoolKeepsWhatItWrote) {
  berth::Job job = job_of("a", "train", 8);
  job.pod_shape.edit()->node_selector.set(names::kPoolLabel, "training");
  add(job);
  begin(), decide();
  const nlohmann::json body = body_of(reconcile_release(snapshot(), "Job/a/train"));
  EXPECT_FALSE(body["spec"]["template"].contains("spec"));
  EXPECT_FALSE(
      decode_admission(std::string(body["metadata"]["annotations"][names::kAdmittedAnnotation]))
          ->selects_pool);
}

TEST_F(AdmissionsTest, AnotherAdmissionReplacesThePoolOfTheFirst) {
  GPUQueue queue = queue_of("vision", 16);
  queue.spec.quotas = {{"nvidia.com/gpu", "*", 16, {}, {}}};
  add(queue);
  berth::Job job = job_of("a", "train", 8);
  job.pod_shape.edit()->node_selector.set(names::kPoolLabel, "gone");
  job.meta.annotations.set(
      names::kAdmittedAnnotation,
      encode_admission({.uid = "train", .queue = "vision", .pool = "gone", .selects_pool = true}));
  add(job);
  begin(), decide();
  const nlohmann::json body = body_of(reconcile_release(snapshot(), "Job/a/train"));
  EXPECT_TRUE(body["spec"]["template"]["spec"]["nodeSelector"][names::kPoolLabel].is_null());
}

TEST_F(AdmissionsTest, APodLosesBerthsGateAlone) {
  add(gated("web", 2));
  begin(), decide();
  const Plan plan = reconcile_release(snapshot(), "Pod/a/web");
  const nlohmann::json body = body_of(plan);
  EXPECT_EQ(body["spec"]["schedulingGates"],
            nlohmann::json::array({{{"name", "example.com/other"}}}));
  EXPECT_EQ(body["spec"]["nodeSelector"][names::kPoolLabel], "training");
  EXPECT_EQ(body["metadata"]["uid"], "web");
  EXPECT_TRUE(body["metadata"].contains("resourceVersion"));
}

TEST_F(AdmissionsTest, WhoeverSuspendsItAgainIsNotOverruledByItsEntry) {
  add(job_of("a", "train", 8));
  begin(), decide();
  const nlohmann::json body = body_of(reconcile_release(snapshot(), "Job/a/train"));
  berth::Job taken_back = job_of("a", "train", 8);
  taken_back.meta.annotations.set(
      names::kAdmittedAnnotation,
      std::string(body["metadata"]["annotations"][names::kAdmittedAnnotation]));
  add(taken_back);
  EXPECT_TRUE(reconcile_release(snapshot(), "Job/a/train").empty());
}

TEST_F(AdmissionsTest, AGangIsLetGoWholeAndEachOfItUnderItsOwnUid) {
  add(member("m0", "3")), add(member("m1", "3"));
  begin();
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty()) << "a third one is missing";
  add(member("m2", "3"));
  decide();
  EXPECT_THAT(in_flight(), ElementsAre("PodGroup/a/gang"));
  const Plan plan = reconcile_release(snapshot(), "PodGroup/a/gang");
  ASSERT_THAT(plan.objects, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    const auto record = decode_admission(
        std::string(body_of(plan, i)["metadata"]["annotations"][names::kAdmittedAnnotation]));
    ASSERT_TRUE(record);
    EXPECT_EQ(record->uid, plan.objects[i].object.uid);
    EXPECT_EQ(record->pods, 3);
  }
}

TEST_F(AdmissionsTest, AMemberMadeAnewFollowsItsGangAndOneTooManyDoesNot) {
  for (const char* name : {"m0", "m1"}) {
    berth::Pod runs = member(name, "3");
    runs.shape.edit()->scheduling_gates.clear();
    note_admission(runs.meta, "vision", {{"nvidia.com/gpu", 12}});
    runs.node_name = "n1";
    add(runs);
  }
  add(member("m2", "3"));
  begin();
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty()) << "it is admitted whole";
  EXPECT_THAT(reconcile_release(snapshot(), "PodGroup/a/gang").objects, SizeIs(1));
  add(member("m3", "3"));
  EXPECT_TRUE(reconcile_release(snapshot(), "PodGroup/a/gang").empty());
}

TEST_F(AdmissionsTest, AnEntryStandsUntilItsObjectShowsIt) {
  add(gated("web", 2));
  begin(), decide();
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty()) << "nothing to add and nothing done";
  berth::Pod released = gated("web", 2);
  released.shape.edit()->scheduling_gates = {"example.com/other"};
  note_admission(released.meta, "vision", {{"nvidia.com/gpu", 2}});
  add(released);
  const Plan waits = reconcile_admissions(snapshot());
  EXPECT_TRUE(waits.empty()) << "it goes with the next write";
  EXPECT_EQ(waits.requeue_after, 5s);
  add(gated("next", 2));
  decide();
  EXPECT_THAT(in_flight(), ElementsAre("Pod/a/next"));
}

TEST_F(AdmissionsTest, WhatIsDoneGoesByItselfWhereNothingFollows) {
  add(gated("web", 2));
  begin(), decide();
  cluster.erase<berth::Pod>("a", "web");
  decide();
  EXPECT_THAT(in_flight(), IsEmpty()) << "at once: it counts for somebody who is gone";
}

TEST_F(AdmissionsTest, AnEntryIsForTheObjectThatItNames) {
  add(job_of("a", "train", 8));
  begin(), decide();
  berth::Job another = job_of("a", "train", 8);
  another.meta.uid = "another";
  add(another);
  EXPECT_TRUE(reconcile_release(snapshot(), "Job/a/train").empty());
  decide();
  const auto entries = read_admissions(snapshot()).entries;
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries.begin()->first, "another") << "which is admitted for itself";
}

TEST_F(AdmissionsTest, AJobThatChangesBeforeItGoesIsDecidedAnew) {
  berth::Job job = job_of("a", "train", 4);
  job.meta.generation = 1;
  add(job);
  begin(), decide();
  job.meta.generation = 2;
  job.parallelism = 3, job.completions = 3;
  add(job);
  EXPECT_TRUE(reconcile_release(snapshot(), "Job/a/train").empty());
  decide();
  const auto entries = read_admissions(snapshot()).entries;
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries.begin()->second.generation, 2);
  EXPECT_THAT(entries.begin()->second.admission.amounts, ElementsAre(Pair("nvidia.com/gpu", 12)));
  EXPECT_FALSE(reconcile_release(snapshot(), "Job/a/train").empty());
}

TEST_F(AdmissionsTest, AJobThatIsHeldBeforeItGoesStaysAndGivesItsQuotaBack) {
  add(queue_of("vision", 8));
  berth::Job job = job_of("a", "train", 8);
  add(job);
  begin(), decide();
  job.meta.annotations.set(names::kHoldAnnotation, "true");
  add(job);
  EXPECT_TRUE(reconcile_release(snapshot(), "Job/a/train").empty());
  add(job_of("a", "next", 8));
  decide();
  EXPECT_THAT(in_flight(), ElementsAre("Job/a/next"));
}

// --- refused releases ---

TEST_F(AdmissionsTest, WhatTheServerRefusesForAMinuteIsWithdrawnToldAndTriedAgain) {
  add(queue_of("vision", 8)), add(gated("web", 8)), add(gated("next", 8));
  begin(), decide();
  EXPECT_THAT(in_flight(), ElementsAre("Pod/a/next"));
  refuse("next");
  EXPECT_EQ(reconcile_admissions(snapshot()).requeue_after, 1min) << "it may pass";
  now += 50s;
  refuse("next");
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty());
  now += 15s;
  refuse("next");
  decide();
  EXPECT_THAT(in_flight(), ElementsAre("Pod/a/next"));
  decide();
  EXPECT_THAT(in_flight(), ElementsAre("Pod/a/next", "Pod/a/web")) << "others have its quota";
  const auto entries = read_admissions(snapshot()).entries;
  EXPECT_THAT(entries.at("next").refused, HasSubstr("not on Fridays"));
  EXPECT_EQ(entries.at("next").until, (now + 5min).time_since_epoch().count());
  EXPECT_TRUE(reconcile_release(snapshot(), "Pod/a/next").empty());

  const queue::ClusterIndex& index = cluster.view<ClusterIndex>();
  const Survey survey(index.facts(), 10);
  const Outcome outcome = survey.outcome(*index.facts().find("Pod/a/next"));
  EXPECT_EQ(reason_of(outcome), "ReleaseRefused");
  EXPECT_THAT(describe(outcome, index.facts().catalog()), HasSubstr("not on Fridays"));

  cluster.erase<berth::Pod>("a", "web");
  decide();
  EXPECT_THAT(in_flight(), ElementsAre("Pod/a/next"));
  EXPECT_EQ(reconcile_admissions(snapshot()).requeue_after, 5min);
  now += 5min;
  decide();
  EXPECT_THAT(in_flight(), IsEmpty());
  decide();
  EXPECT_FALSE(reconcile_release(snapshot(), "Pod/a/next").empty());
}

TEST_F(AdmissionsTest, AJobThatIsRefusedAndChangesIsTriedAtOnce) {
  berth::Job job = job_of("a", "train", 8);
  job.meta.generation = 1;
  add(job);
  begin(), decide();
  refuse("train", "Job");
  now += 61s;
  refuse("train", "Job");
  decide();
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty());
  job.meta.generation = 2;
  add(job);
  decide();
  EXPECT_FALSE(reconcile_release(snapshot(), "Job/a/train").empty());
}

TEST_F(AdmissionsTest, OfThoseThatAreRefusedTheLedgerKeepsABoundedNumber) {
  GPUQueue queue = queue_of("vision", 10'000);
  queue.spec.quotas.front().pool = "*";
  add(queue), add(node_of("big", 1000));
  for (int i = 0; i < 70; ++i) add(gated(fmt::format("p{:02}", i), 1));
  begin(), decide();
  for (int i = 0; i < 70; ++i) refuse(fmt::format("p{:02}", i));
  now += 61s;
  for (int i = 0; i < 70; ++i) refuse(fmt::format("p{:02}", i));
  decide();
  std::size_t refused = 0;
  for (const auto& [uid, entry] : read_admissions(snapshot()).entries)
    refused += entry.refused.empty() ? 0 : 1;
  EXPECT_EQ(refused, 64u) << "the others are tried again";
}

TEST_F(AdmissionsTest, TheWindowBoundsWhatIsInFlight) {
  GPUQueue queue = queue_of("vision", 10'000);
  queue.spec.quotas.front().pool = "*";
  add(queue);
  for (int i = 0; i < 10; ++i) add(node_of(fmt::format("big{}", i), 1000));
  for (int i = 0; i < 700; ++i) add(gated(fmt::format("p{:03}", i), 1));
  begin(), decide();
  EXPECT_THAT(in_flight(), SizeIs(512));
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty()) << "full";
  int released = 0;
  const auto release = [&](int upto) {
    for (; released < upto; ++released) {
      berth::Pod pod = gated(fmt::format("p{:03}", released), 1);
      pod.shape.edit()->scheduling_gates.clear();
      add(pod);
    }
  };
  release(255);
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty()) << "each write carries all: half by half";
  release(256);
  decide();
  EXPECT_THAT(in_flight(), SizeIs(256 + 188));
}

// --- drained queues ---

TEST_F(AdmissionsTest, ADrainedQueueTakesBackWhatRuns) {
  berth::Job job = job_of("a", "train", 8);
  job.suspended = false;
  note_admission(job.meta, "vision", {{"nvidia.com/gpu", 8}});
  add(job);
  const auto released = [&](const std::string& name, bool controlled) {
    berth::Pod pod = gated(name, 2);
    pod.shape.edit()->scheduling_gates.clear();
    pod.node_name = "n1";
    note_admission(pod.meta, "vision", {{"nvidia.com/gpu", 2}});
    if (controlled)
      pod.meta.owner_references.push_back(
          {.kind = "ReplicaSet", .name = "web", .controller = true});
    add(pod);
  };
  released("web", true), released("bare", false);
  begin();
  EXPECT_TRUE(reconcile_requeue(snapshot(), "Job/a/train").empty());

  GPUQueue queue = queue_of("vision", 16);
  queue.spec.stop_policy = StopPolicy::kHoldAndDrain;
  add(queue);
  EXPECT_THAT(queue_keys_for(cluster, settings, static_cast<const GPUQueue*>(nullptr), &queue),
              ElementsAre("admissions", "namespace-quotas", "queues", "reasons",
                          "requeue/Job/a/train", "requeue/Pod/a/bare", "requeue/Pod/a/web"));
  const nlohmann::json body = body_of(reconcile_requeue(snapshot(), "Job/a/train"));
  EXPECT_EQ(body["spec"], nlohmann::json({{"suspend", true}}));
  EXPECT_TRUE(body["metadata"].contains("resourceVersion"));
  const Plan leaves = reconcile_requeue(snapshot(), "Pod/a/web");
  ASSERT_THAT(leaves.objects, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<Ask>(leaves.objects[0].steps.at(0))) << "its budget first";
  EXPECT_EQ(std::get<Write>(leaves.objects[0].steps.at(1)).verb, Verb::kEvict);
  EXPECT_TRUE(reconcile_requeue(snapshot(), "Pod/a/bare").empty()) << "nobody would make it anew";

  job.suspended = true;
  add(job);
  EXPECT_TRUE(reconcile_requeue(snapshot(), "Job/a/train").empty()) << "it has gone back";
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty()) << "and waits";
}

TEST_F(AdmissionsTest, WithoutQueuesNothingIsWritten) {
  cluster.erase<GPUQueue>("", "vision");
  add(job_of("a", "train", 8));
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty());
  EXPECT_THAT(due(), IsEmpty());
}

TEST_F(AdmissionsTest, ADeletedQueuesLastAdmissionsAreCarriedOut) {
  add(job_of("a", "train", 8));
  begin(), decide();
  cluster.erase<GPUQueue>("", "vision");
  EXPECT_THAT(due(), ElementsAre("admissions", "release/Job/a/train"));
  EXPECT_FALSE(reconcile_release(snapshot(), "Job/a/train").empty());
}

TEST_F(AdmissionsTest, NobodyIsSentToAPoolThatItsOwnSelectorsRuleOut) {
  GPUClusterPolicy policy = policy_with("training");
  policy.spec.pools.push_back(policy.spec.pools.front());
  policy.spec.pools.back().name = "inference";
  policy.spec.pools.back().node_selector.match_labels["tier"] = "inference";
  add(policy);
  Node other = node_of("i1", 8);
  other.meta.labels.set("tier", "inference");
  add(other);
  GPUQueue queue = queue_of("vision", 16);
  queue.spec.quotas.push_back({"nvidia.com/gpu", "inference", 16, {}, {}});
  add(queue);
  berth::Pod pod = gated("web", 1);
  pod.shape.edit()->node_selector.set("tier", "inference");
  add(pod);
  begin(), decide();
  EXPECT_EQ(body_of(reconcile_release(snapshot(),
                                      "Pod/a/web"))["spec"]["nodeSelector"][names::kPoolLabel],
            "inference");
}

TEST_F(AdmissionsTest, WhatCannotBeReadGoesWithTheNextWrite) {
  begin();
  ConfigMap edited = *ledger();
  edited.data["x"] = "{";
  edited.data["y"] = R"({"workload":"Job/a/x"})";
  add(edited);
  add(gated("web", 2));
  decide();
  EXPECT_THAT(ledger()->data, SizeIs(1));
}

}  // namespace
}  // namespace berth::queue
