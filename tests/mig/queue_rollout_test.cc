// SPDX-License-Identifier: Apache-2.0
// A rollout and a queue that share nodes: Jobs are requeued, admitted pods may still reach their
// node, and a node in a rollout is no free capacity.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "apis/base/reasons.h"
#include "controller/disruption/leaving_outlook.h"
#include "controller/mig/drain_steps.h"
#include "controller/mig/rollout_choice.h"
#include "controller/mig/watch_keys.h"
#include "controller/queue/admit/reconcile.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/record/admission_ledger.h"
#include "tests/mig/queued_job.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Job "train" with a pod on n1 and one on n2, which a layout repartitions.
struct QueueRollout : ::testing::Test {
  QueueRollout() {
    world.add_nodes(3).add(small).add(team_a()).add(lab_queue()).add(admitted_job("train"));
    world.add(pod("a").gpu(1).on("n1").job("train")).add(pod("b").gpu(1).on("n2").job("train"));
    world.render_agent_config("small");
    since = world.now;
  }
  // "ask a", "mergepatch train", in order, of n1's drain.
  std::vector<std::string> steps() {
    plan = Plan();
    progress = plan_drain(world.snapshot(), *world.cluster.nodes().find("n1"), drain, since, plan);
    std::vector<std::string> told;
    for (const ObjectSteps& object : plan.objects)
      for (const Step& step : object.steps) {
        const Write* write = std::get_if<Write>(&step);
        told.push_back((write == nullptr ? "ask " : std::string(to_string(write->verb)) + " ") +
                       object.object.name);
      }
    return told;
  }
  void allow(const Pod& pod) {
    world.answers.put(question(ask_of(pod)), Answer{.yes = true, .at = world.now});
  }
  void suspend() {
    Job job = admitted_job("train");
    job.suspended = true;
    world.add(std::move(job));
  }
  NodeStanding standing(const std::string& name) {
    const auto nodes =
        decide_rollout(world.snapshot(), *world.cluster.mig_layouts().find("small")).nodes;
    return *std::ranges::find(nodes, name,
                              [](const NodeStanding& node) { return node.node->meta.name; });
  }
  // The admission ledger, in which "Job/team-a/next" is on its way to the node.
  ConfigMap in_flight_to(const std::string& node) const {
    ConfigMap map;
    map.meta.name = names::kAdmissionsConfigMap;
    map.meta.namespace_ = world.settings.berth_namespace;
    map.meta.uid = "uid-admissions";
    map.meta.annotations.set(names::kEpochAnnotation, "1");
    const queue::LedgerFact entry{.workload = "Job/team-a/next",
                                  .admission = {.uid = "uid-next",
                                                .queue = "lab",
                                                .pool = "*",
                                                .amounts = {{"nvidia.com/gpu", 1}},
                                                .nodes = {node}}};
    if (!node.empty()) map.data["uid-next"] = queue::encode_entry(entry);
    return map;
  }
  MIGLayout small =
      under_way(layout("small").retire("nvidia.com/gpu").with([](MIGLayoutSpec& spec) {
        spec.rollout.max_unavailable = {3, false};
        spec.rollout.initial_batch = 3;
      }));
  PlannedCluster world;
  DrainSpec drain;
  Time since;
  Plan plan;
  DrainProgress progress;
};

TEST_F(QueueRollout, TheJobIsSuspendedOnceEachOfItsPodsMayGo) {
  EXPECT_THAT(steps(), ElementsAre("ask a", "ask b"));
  allow(pod("a"));
  EXPECT_THAT(steps(), ElementsAre("ask b"));
  allow(pod("b"));
  EXPECT_THAT(steps(), ElementsAre("mergepatch train"));
  const Write& write = std::get<Write>(plan.objects.front().steps.front());
  EXPECT_EQ(write.object, ref_of(admitted_job("train")));
  EXPECT_EQ(write.reason, "drain node n1");
  EXPECT_EQ(progress.cause.reason, reasons::kPodsLeaving);
  EXPECT_THAT(progress.cause.message, HasSubstr("Job team-a/train is suspended"));
}

TEST_F(QueueRollout, SeveralPodsOnTheNodeAreOneSuspension) {
  world.add(pod("c").gpu(1).on("n1").job("train"));
  EXPECT_THAT(steps(), ElementsAre("ask a", "ask b", "ask c"));
  for (const char* name : {"a", "b", "c"}) allow(pod(name));
  EXPECT_THAT(steps(), ElementsAre("mergepatch train"));
}

TEST_F(QueueRollout, ASuspendedJobsPodsAreWaitedForAndDeletedOnlyByForce) {
  suspend();
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_FALSE(progress.empty);
  EXPECT_EQ(plan.requeue_after, drain.timeout);
  world.now = since + drain.timeout;
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_TRUE(progress.timed_out);
  drain.on_timeout = OnTimeout::kForce;
  EXPECT_THAT(steps(), ElementsAre("delete a"));
}

TEST_F(QueueRollout, ForceSuspendsWithoutAskingAndDeletesNoPodOfARunningJob) {
  drain.on_timeout = OnTimeout::kForce;
  world.add(budget("keep", "app", "train", 0));
  world.now = since + drain.timeout;
  EXPECT_THAT(steps(), ElementsAre("mergepatch train"));
  EXPECT_FALSE(progress.timed_out);
}

TEST_F(QueueRollout, ASuspensionThatIsRefusedEndsTheDrainAtItsDeadline) {
  const Write write = {.verb = Verb::kMergePatch,
                       .object = ref_of(admitted_job("train")),
                       .field_manager = names::kManagerQueue,
                       .reason = "drain node n1"};
  world.now = since + drain.timeout;
  drain.on_timeout = OnTimeout::kForce;
  world.answers.put(question(write), {.error = {ErrorKind::kForbidden, "not on Fridays"},
                                      .against = "7",
                                      .at = world.now,
                                      .object = write.object.str(),
                                      .field_manager = write.field_manager,
                                      .reason = write.reason});
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_TRUE(progress.timed_out);
  EXPECT_EQ(progress.cause.reason, reasons::kWriteRefused);
}

TEST_F(QueueRollout, EachPodIsAskedForOnceThoughSeveralNodesWantToKnow) {
  plan = world.plan("layout/small");
  std::vector<std::string> asked;
  for (const ObjectSteps& object : plan.objects)
    for (const Step& step : object.steps)
      if (std::holds_alternative<Ask>(step)) asked.push_back(object.object.name);
  EXPECT_THAT(asked, ElementsAre("a", "b"));
}

TEST_F(QueueRollout, ANodeThatAnAdmissionIsOnItsWayToIsNotTaken) {
  EXPECT_EQ(standing("n3").cause.reason, reasons::kClaiming);
  world.add(in_flight_to("n3"));
  EXPECT_EQ(standing("n3").bucket, NodeBucket::kPending);
  EXPECT_EQ(standing("n3").cause.reason, reasons::kAdmissionInFlight);
  EXPECT_EQ(standing("n3").cause.message, "Job/team-a/next has just been admitted to this node");
  world.add(in_flight_to(""));
  EXPECT_EQ(standing("n3").cause.reason, reasons::kClaiming);
}

TEST_F(QueueRollout, WhatArrivedAndWhatAQueueCountsOnMovesTheLayouts) {
  const auto changed = [&]<class T>(const T& old, const T& now) {
    return mig_keys_for(world.cluster, world.settings, &old, &now);
  };
  const ConfigMap none = in_flight_to(""), one = in_flight_to("n3");
  EXPECT_THAT(changed(one, none), ElementsAre("layout/small"));
  EXPECT_THAT(changed(none, one), IsEmpty());
  EXPECT_THAT(changed(one, one), IsEmpty());
  EXPECT_THAT(changed(in_flight_to("elsewhere"), none), IsEmpty());
  EXPECT_THAT(changed(lab_queue(), lab_queue()), IsEmpty());
  EXPECT_THAT(changed(lab_queue(), lab_queue({})), ElementsAre("layout/small"));

  const Job runs = admitted_job("train");
  Job suspended = runs, held = runs, ended = runs;
  suspended.suspended = ended.finished = true;
  held.meta.annotations.set(names::kHoldAnnotation, "");
  for (const Job& now : {suspended, held, ended})
    EXPECT_THAT(changed(runs, now), ElementsAre("layout/small"));
  EXPECT_THAT(changed(suspended, runs), IsEmpty()) << "it has no pods yet";
}

// From the cordon on, before any pod is evicted.
TEST_F(QueueRollout, ACordonedNodeIsNoRoomAndNothingIsAdmittedToIt) {
  const auto offered = [&] {
    const auto& facts = world.cluster.view<queue::ClusterIndex>().facts();
    return facts.room().offered(queue::Catalog::kAny,
                                *facts.catalog().find_resource("nvidia.com/gpu"));
  };
  const auto admitted = [&] {
    std::size_t entries = 0;
    for (const ObjectSteps& object : queue::reconcile_admissions(world.snapshot()).objects)
      for (const Step& step : object.steps)
        entries += std::get<Write>(step).body.find("Job/team-a/next") != std::string::npos ? 1 : 0;
    return entries;
  };
  Job next = admitted_job("next");
  next.meta.annotations.erase(names::kAdmittedAnnotation);
  next.suspended = true;
  next.pod_shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(4));
  next.parallelism = next.completions.emplace(1);
  const auto n3 = [] { return node("n3").a100_80(4).label("tier", "mig").allocatable("pods", 9); };
  world.add(n3()).add(next).add(in_flight_to(""));
  EXPECT_EQ(offered(), 12);
  EXPECT_EQ(admitted(), 1u) << "n3 has four";
  world.add(n3().cordoned());
  EXPECT_EQ(offered(), 8);
  EXPECT_EQ(admitted(), 0u) << "n1 and n2 have three each";
}

}  // namespace
}  // namespace berth::test
