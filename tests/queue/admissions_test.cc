// SPDX-License-Identifier: Apache-2.0
// Admissions are first written into the ledger, then released, then removed from the ledger: step
// by step over stores that take each write as the API server would.
#include <fmt/format.h>

#include "controller/core/ledger_epoch.h"
#include "tests/queue/admissions_fixture.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

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

// The next leader's cache may lag. It would miss a running Job and believe that its GPUs are free.
TEST_F(AdmissionsTest, WhoLeadsNextGivesNoRoomAwayBeforeItHasHeardAsMuch) {
  add(queue_of("vision", 8));
  cluster.hear_all<berth::Job>(std::to_string(version));
  add(job_of("a", "train", 8));
  const std::string heard = std::to_string(version);
  cluster.hear<berth::Job>(heard);
  begin(), decide();
  EXPECT_EQ(read_admissions(snapshot()).heard,
            (HeardBefore{.epoch = 3, .jobs = heard, .pods = ""}));
  epoch = 4;
  cluster.erase<berth::Job>("a", "train");
  add(job_of("a", "next", 8));
  const Time began = now += 1s;
  begin();
  EXPECT_EQ(read_admissions(snapshot()).heard.epoch, 3) << "it does not speak for itself yet";
  EXPECT_EQ(read_admissions(snapshot()).epoch_since, began);
  now += 10s;
  const Plan plan = reconcile_admissions(snapshot());
  EXPECT_TRUE(plan.empty()) << print(plan);
  EXPECT_TRUE(plan.requeue_after);
  EXPECT_THAT(in_flight(), ElementsAre("Job/a/train"));

  cluster.hear_all<berth::Job>(heard);
  decide();
  EXPECT_THAT(in_flight(), IsEmpty()) << "it had heard of the Job, and has heard that it is gone";
  decide();
  EXPECT_THAT(in_flight(), ElementsAre("Job/a/next"));
  EXPECT_EQ(read_admissions(snapshot()).heard.epoch, 4);
  EXPECT_EQ(read_admissions(snapshot()).epoch_since, began);
}

// A live GET may show an object before its watch does.
TEST_F(AdmissionsTest, NobodyWaitsToHearWhatHeWroteHimself) {
  cluster.hear_all<berth::Pod>(std::to_string(version));
  add(gated("web", 8));
  cluster.hear<berth::Pod>(std::to_string(version));
  begin(), decide();
  add(gated("other", 8));
  decide();
  EXPECT_THAT(in_flight(), UnorderedElementsAre("Pod/a/web", "Pod/a/other"));
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

// An autoscaler acts on pods that one of its nodes could run.
TEST_F(AdmissionsTest, WhatGoesToNodesThatAreYetToComeSelectsItsPoolAndNoNode) {
  GPUClusterPolicy policy = policy_with("training");
  policy.spec.pools[0].elastic = ElasticSpec{.max_nodes = 3};
  add(policy), add(queue_of("vision", 64));
  cluster.erase<Node>("", "n2");
  add(job_of("a", "pinned", 8)), add(job_of("a", "waits", 8)), add(gated("web", 8));
  begin(), decide();
  EXPECT_THAT(in_flight(), UnorderedElementsAre("Job/a/pinned", "Job/a/waits", "Pod/a/web"));
  const nlohmann::json pinned = body_of(reconcile_release(snapshot(), "Job/a/pinned"));
  EXPECT_TRUE(pinned["spec"]["template"]["spec"].contains("affinity"));
  for (const nlohmann::json& pods :
       {body_of(reconcile_release(snapshot(), "Job/a/waits"))["spec"]["template"]["spec"],
        body_of(reconcile_release(snapshot(), "Pod/a/web"))["spec"]}) {
    EXPECT_EQ(pods["nodeSelector"], nlohmann::json({{names::kPoolLabel, "training"}}));
    EXPECT_FALSE(pods.contains("affinity")) << pods;
  }
}

TEST_F(AdmissionsTest, AJobThatChoseItsPoolKeepsWhatItWrote) {
  berth::Job job = job_of("a", "train", 8);
  job.pod_shape.edit()->node_selector.set(names::kPoolLabel, "training");
  add(job);
  begin(), decide();
  const nlohmann::json body = body_of(reconcile_release(snapshot(), "Job/a/train"));
  EXPECT_FALSE(body["spec"]["template"]["spec"].contains("nodeSelector"));
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
    note_admission(runs.meta, "vision", {{"nvidia.com/gpu", 12}}, 3);
    runs.node_name = "n1";
    add(runs);
  }
  add(member("m2", "3"));
  begin();
  EXPECT_TRUE(reconcile_admissions(snapshot()).empty()) << "it is admitted whole";
  EXPECT_THAT(reconcile_release(snapshot(), "PodGroup/a/gang").objects, SizeIs(1));
  add(member("m3", "3"));
  const Plan release = reconcile_release(snapshot(), "PodGroup/a/gang");
  ASSERT_THAT(release.objects, SizeIs(1));
  EXPECT_EQ(release.objects[0].object.name, "m2");
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
