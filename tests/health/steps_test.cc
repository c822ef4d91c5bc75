// SPDX-License-Identifier: Apache-2.0
// What health leaves to other owners of a node, how long it waits, and what its patch tests.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/slots.h"
#include "controller/health/proof.h"
#include "tests/health/sick_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// n3 is out of service for a fault that does not come again.
class OutOfService : public SickCluster {
 public:
  OutOfService() : SickCluster(10) {
    xid("n3", 1, 79);
    run();
    EXPECT_TRUE(is_out("n3"));
  }
  void change(const std::function<void(Node&)>& change) {
    Node changed = node("n3");
    change(changed);
    put(std::move(changed));
  }
  void hold() {
    change([](Node& node) { node.meta.annotations.set(names::kHoldAnnotation, "mine"); });
  }
  void roll_out() {
    change([&](Node& node) {
      NodeRollout rollout{.seq = 1, .node_uid = node.meta.uid, .phase = RolloutPhase::kApplying};
      rollout.since = now;
      node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
    });
  }
  void put_back() {
    change([](Node& node) { node.meta.annotations.erase(names::kRolloutAnnotation); });
  }
};

TEST(HealthSteps, WhatARolloutHasOutComesBackAfterIt) {
  OutOfService sick;
  sick.roll_out();
  sick.pass(1h);
  EXPECT_TRUE(sick.is_out("n3"));
  EXPECT_EQ(sick.record("n3")->phase, HealthPhase::kCordoned);
  sick.policy.spec.pools.front().node_selector.match_labels = {{"no", "where"}};
  sick.run();
  EXPECT_TRUE(sick.is_out("n3")) << "the rollout's end uncordons it, or berth does then";
  sick.put_back();
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
}

TEST(HealthSteps, ReportOnlyWaitsForTheRolloutToo) {
  OutOfService sick;
  sick.roll_out();
  sick.policy.spec.health.action = HealthAction::kReport;
  sick.run();
  EXPECT_TRUE(sick.is_out("n3"));
  sick.put_back();
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
}

// A rollout is about to start there, and its annotation is in flight.
TEST(HealthSteps, ASlotOfTheLedgerIsAsGoodAsARollout) {
  OutOfService sick;
  ConfigMap ledger;
  ledger.meta.name = ledger.meta.uid = names::kSlotsConfigMap;
  ledger.meta.namespace_ = sick.settings.berth_namespace;
  ledger.data["n3"] =
      encode_slot({.node_uid = sick.node("n3").meta.uid, .holder = "MIGLayout/a", .seq = 1});
  sick.cluster.upsert(ledger, sick.now);
  sick.pass(1h);
  EXPECT_TRUE(sick.is_out("n3"));
  ledger.data.clear();
  sick.cluster.upsert(ledger, sick.now);
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
}

TEST(HealthSteps, AHeldNodeStaysAsItIsAlsoWithoutAPolicy) {
  OutOfService sick;
  sick.hold();
  sick.pass(1h);
  EXPECT_TRUE(sick.is_out("n3"));
  sick.policy.spec.pools.front().node_selector.match_labels = {{"no", "where"}};
  EXPECT_TRUE(sick.run().empty());
  EXPECT_TRUE(sick.node("n3").meta.annotations.contains(names::kHealthAnnotation));
}

TEST(HealthSteps, OutsideTheWindowsNobodyIsEvicted) {
  SickCluster sick(10);
  sick.policy.spec.health.action = HealthAction::kDrain;
  sick.policy.spec.disruption.windows = {{"0 3 * * *", 1h, "UTC"}};
  sick.cluster.upsert<Pod>(pod("p").gpu(1).on("n3"), sick.now);
  sick.xid("n3", 1, 79);
  sick.run();
  ASSERT_TRUE(sick.is_out("n3")) << "a cordon evicts nobody";
  const Plan plan = sick.run();
  EXPECT_THAT(plan.objects, IsEmpty());
  ASSERT_TRUE(plan.requeue_after);
  EXPECT_EQ(format_time(sick.now + *plan.requeue_after).substr(10), "T03:00:00Z");
}

TEST(HealthSteps, WhileBerthIsStoppedAFaultIsReportedAndNoNodeIsCordoned) {
  SickCluster sick(10);
  sick.policy.spec.operations = Operations::kStopped;
  sick.xid("n3", 1, 79);
  EXPECT_THAT(print(sick.run()), HasSubstr("left in service: berth is stopped"));
  EXPECT_FALSE(sick.is_out("n3"));
  EXPECT_EQ(sick.record("n3")->phase, HealthPhase::kReported);
  sick.policy.spec.operations = Operations::kNormal;
  sick.run();
  EXPECT_TRUE(sick.is_out("n3"));
}

TEST(HealthSteps, WhileBerthIsStoppedNoPodIsEvictedAndAHealthyNodeReturns) {
  OutOfService sick;
  sick.policy.spec.health.action = HealthAction::kDrain;
  sick.cluster.upsert<Pod>(pod("p").gpu(1).on("n3"), sick.now);
  sick.xid("n3", 1, 79);
  EXPECT_THAT(print(sick.run()), HasSubstr("drain node n3"));
  sick.policy.spec.operations = Operations::kStopped;
  EXPECT_THAT(print(sick.run()), Not(HasSubstr("drain node n3")));
  sick.gpu("n3", 1).xid.reset();
  sick.pass(1h);
  EXPECT_FALSE(sick.is_out("n3"));
}

TEST(HealthSteps, APodWithoutWhichItsJobFailsStaysAndTheNodesEventSaysSo) {
  OutOfService sick;
  sick.policy.spec.health.action = HealthAction::kDrain;
  Pod step = pod("p").gpu(1).on("n3");
  step.never_restarts = true;
  step.meta.owner_references = {{"argoproj.io/v1alpha1", "Workflow", "w", "uid-w", true}};
  sick.cluster.upsert<Pod>(std::move(step), sick.now);
  sick.xid("n3", 1, 79);
  const Plan plan = sick.run();
  EXPECT_THAT(print(plan), Not(HasSubstr("drain node n3")));
  EXPECT_THAT(print(plan), HasSubstr("event Warning Node/n3 PodKept: a pod stays on it: pod p has "
                                     "restartPolicy Never"));
}

TEST(HealthSteps, WhatIsOnlyToldEvictsNobody) {
  OutOfService sick;
  sick.policy.spec.health.action = HealthAction::kDrain;
  sick.cluster.upsert<Pod>(pod("p").gpu(1).on("n3"), sick.now);
  sick.gpu("n3", 1).xid.reset();
  sick.gpu("n3", 2).throttled_at = sick.now;
  EXPECT_THAT(print(sick.run()), Not(HasSubstr("drain node n3")));
  sick.xid("n3", 1, 79);
  EXPECT_THAT(print(sick.run()), HasSubstr("drain node n3"));
}

TEST(HealthSteps, TheWaitDoublesUpToADayAndIsNeverShorterThanWhatIsAsked) {
  const auto back_after = [](std::int64_t cordons, std::int64_t proofs, Duration recover_after) {
    SickCluster sick(3);
    sick.policy.spec.health.recover_after = recover_after;
    Node out = sick.node("n1");
    out.unschedulable = true;
    HealthRecord record{.phase = HealthPhase::kCordoned, .node_uid = out.meta.uid};
    record.since = record.last = sick.now;
    record.keys = "FatalXid/1";
    record.cordons = cordons, record.proofs = proofs;
    out.meta.annotations.set(names::kHealthAnnotation, encode_health(record));
    sick.put(std::move(out));
    return sick.run().requeue_after.value_or(0s);
  };
  EXPECT_EQ(back_after(1, 0, 15min), 15min);
  EXPECT_EQ(back_after(0, 0, 15min), 15min) << "a record that a person wrote";
  EXPECT_EQ(back_after(2, 0, 15min), 30min);
  EXPECT_EQ(back_after(1, 2, 15min), 1h);
  EXPECT_EQ(back_after(7, 0, 15min), 16h);
  EXPECT_EQ(back_after(8, 0, 15min), 24h);
  EXPECT_EQ(back_after(99, 0, 15min), 24h);
  EXPECT_EQ(back_after(99, 0, 1s), 1024s);
  EXPECT_EQ(back_after(3, 0, 48h), 48h);
}

TEST(HealthSteps, ThePatchTestsWhatItGoesBy) {
  const auto operations = [](const std::function<void(Node&)>& change) {
    OutOfService sick;
    sick.change([&](Node& node) {
      node.meta.annotations.erase(names::kHealthAnnotation);
      node.unschedulable.reset();
      change(node);
    });
    const Plan plan = reconcile_health(sick.snapshot());
    std::string steps;
    for (const ObjectSteps& object : plan.objects)
      for (const Step& step : object.steps)
        if (const Write* write = std::get_if<Write>(&step);
            write != nullptr && write->object.kind == "Node")
          steps += write->body + "\n";
    return steps;
  };
  const std::string plain = operations([](Node&) {});
  EXPECT_THAT(plain, HasSubstr(R"({"op":"test","path":"/metadata/uid","value":"uid-n3"})"));
  EXPECT_THAT(plain, Not(HasSubstr("gpu-inventory"))) << "there are annotations";
  EXPECT_THAT(operations([](Node& node) { node.unschedulable = false; }),
              HasSubstr(R"({"op":"test","path":"/spec/unschedulable","value":false})"));
  const std::string bare = operations([](Node& node) { node.meta.annotations = {}; });
  EXPECT_THAT(bare, HasSubstr("gpu-inventory")) << "a JSON patch tests no key of a map that is not";
}

TEST(HealthSteps, AFaultThatComesToAnotherIsWrittenDownAtOnceAndTheSameOneNowAndThen) {
  OutOfService sick;
  sick.now += 1min;
  sick.look();
  sick.xid("n3", 2, 79);
  sick.run();
  EXPECT_EQ(sick.record("n3")->keys, "FatalXid/1,FatalXid/2");
  EXPECT_THAT(sick.record("n3")->findings, HasSubstr("GPU 2: XID 79"));
  const Time last = sick.record("n3")->last;
  EXPECT_EQ(last, sick.now);
  const Duration quarter = sick.policy.spec.health.recover_after / 4;
  for (const auto& [later, seen] :
       {std::pair{quarter - 1s, last}, std::pair{quarter, last + quarter}}) {
    sick.now = last + later;
    sick.look();
    sick.xid("n3", 2, 79);
    sick.run();
    EXPECT_EQ(sick.record("n3")->last, seen) << format_duration_short(later);
  }
}

TEST(HealthSteps, OfAnOverruledNodeOnlyWhatActsAnewCounts) {
  OutOfService sick;
  sick.change([](Node& node) { node.unschedulable.reset(); });
  sick.now += 30s;
  sick.look();
  sick.run();
  ASSERT_EQ(sick.record("n3")->phase, HealthPhase::kOverruled);
  sick.gpu("n3", 2).throttled_at = sick.now;
  sick.run();
  EXPECT_FALSE(sick.is_out("n3")) << "it is only told of";
  EXPECT_EQ(sick.record("n3")->phase, HealthPhase::kOverruled);
  sick.gpu("n3", 0).remap_failed = true;
  sick.run();
  EXPECT_TRUE(sick.is_out("n3")) << "it stood nowhere when the person put it back";
}

TEST(HealthProofs, AJobProvesByItsLabelItsAnnotationAndItsSuccess) {
  SickCluster sick(3);
  const Node node = sick.node("n1");
  HealthRecord record{.phase = HealthPhase::kCordoned, .node_uid = node.meta.uid, .cordons = 1};
  Job good;
  good.meta.name = proof_name(node, record);
  good.meta.namespace_ = sick.settings.berth_namespace;
  good.meta.creation_timestamp = sick.now;
  good.meta.labels.set(names::kProofLabel, "true");
  good.meta.annotations.set(names::kProofNodeAnnotation, node.meta.uid);
  good.finished = true;
  good.succeeded = 1;
  const auto state = [&](const std::function<void(Job&)>& change) {
    Job job = good;
    change(job);
    sick.cluster.upsert(std::move(job), sick.now);
    return find_proof(sick.snapshot(), node, record);
  };
  using State = Proof::State;
  EXPECT_EQ(state([](Job&) {}).state, State::kPassed);
  EXPECT_EQ(state([](Job& job) { job.meta.labels = {}; }).state, State::kFailed);
  EXPECT_EQ(
      state([](Job& job) { job.meta.annotations.set(names::kProofNodeAnnotation, "n2"); }).state,
      State::kFailed);
  EXPECT_EQ(state([](Job& job) { job.failure = "BackoffLimitExceeded"; }).state, State::kFailed);
  EXPECT_THAT(state([](Job& job) { job.succeeded = 0; }).why,
              HasSubstr("failed: the server says nothing of why"));
  const auto running = [](Job& job) { job.finished = false; };
  EXPECT_EQ(state(running).next_in, Duration(16min));
  sick.now += 16min - 1s;
  EXPECT_EQ(state(running).state, State::kUnderWay);
  sick.now += 1s;
  EXPECT_EQ(state(running).state, State::kFailed) << "to the moment";
}

}  // namespace
}  // namespace berth::test
