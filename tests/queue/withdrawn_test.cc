// SPDX-License-Identifier: Apache-2.0
// Admissions that berth withdraws: before the release, since the workload has changed or the API
// server refuses it; and after it, since the queue drains.
#include <fmt/format.h>

#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/recall/reconcile.h"
#include "tests/queue/admissions_fixture.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using namespace std::chrono_literals;

using WithdrawnTest = AdmissionsTest;

TEST_F(WithdrawnTest, AJobThatChangesBeforeItGoesIsDecidedAnew) {
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

TEST_F(WithdrawnTest, AJobThatIsHeldBeforeItGoesStaysAndGivesItsQuotaBack) {
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

TEST_F(WithdrawnTest, WhatTheServerRefusesForAMinuteIsWithdrawnToldAndTriedAgain) {
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

TEST_F(WithdrawnTest, AJobThatIsRefusedAndChangesIsTriedAtOnce) {
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

TEST_F(WithdrawnTest, OfThoseThatAreRefusedTheLedgerKeepsABoundedNumber) {
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

// --- drained queues ---

TEST_F(WithdrawnTest, ADrainedQueueTakesBackWhatRuns) {
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
  EXPECT_THAT(
      queue_keys_for(cluster, settings, static_cast<const GPUQueue*>(nullptr), &queue),
      ElementsAre("admissions", "estimates", "namespace-quotas", "queues", "reasons",
                  "requeue/Job/a/train", "requeue/Pod/a/bare", "requeue/Pod/a/web", "usage"));
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

}  // namespace
}  // namespace berth::queue
