// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "apis/base/reasons.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using State = Verification::State;

// n1 in phase Applying for ten minutes, with all resources of the layout: verified, unless a fault
// is added.
struct VerificationTest : ::testing::Test {
  VerificationTest() {
    const MIGLayout layout = under_way(test::layout("small").retire("nvidia.com/gpu"));
    world.add(layout).add_nodes(1);
    config = world.render_agent_config("small");
    Node cut = test::node("n1")
                   .a100_80(4)
                   .label("tier", "mig")
                   .label(names::kMigConfig, config)
                   .allocatable("nvidia.com/gpu", 0)
                   .allocatable("nvidia.com/mig-1g.10gb", 28);
    node = on_its_way(cut, layout, config, RolloutPhase::kApplying, world.now);
    world.add(node);
    world.now += 10min;
  }
  Verification verify_node() {
    world.cluster.upsert(node, world.now - 10min);
    const Snapshot snapshot = world.snapshot();
    LayoutView view(snapshot);
    return verify(situation_of(snapshot, view, *world.cluster.nodes().find("n1")));
  }
  PlannedCluster world;
  std::string config;
  Node node;
};

TEST_F(VerificationTest, EndsOnlyWhenAgentNodeAndAllocatableAgree) {
  struct Row {
    const char* sentence;
    std::function<void(Node&)> change;
    State state;
    const char* reason;
    const char* says;
  };
  const auto state = [](const char* value) {
    return [value](Node& n) { n.meta.labels.set(names::kMigConfigState, value); };
  };
  const Row rows[] = {
      {"all of it", [](Node&) {}, State::kDone, reasons::kVerifying, "as promised"},
      {"the node is not Ready", [](Node& n) { n.ready = false; }, State::kMismatch,
       reasons::kNodeNotReady, "the node is not Ready"},
      {"a device is missing",
       [](Node& n) { n.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(27)); },
       State::kMismatch, reasons::kAllocatableMismatch, "mig-manager reports success, but"},
      {"the label is another's", [](Node& n) { n.meta.labels.set(names::kMigConfig, "theirs"); },
       State::kForeignLabel, reasons::kContested, "was changed to \"theirs\""},
      {"the agent failed", state("failed"), State::kAgentFailed, reasons::kAgentFailed,
       "its log on the node"},
      {"the agent is at work", state("pending"), State::kAgentWorking, reasons::kAgentPending,
       "is repartitioning"},
      {"the node reboots", state("rebooting"), State::kAgentWorking, reasons::kAgentRebooting,
       "is rebooting"},
      {"a state that nobody knows", state("odd"), State::kAgentWorking, reasons::kAgentPending,
       "unknown state \"odd\""},
  };
  const Node verified = node;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.sentence);
    node = verified;
    row.change(node);
    const Verification verification = verify_node();
    EXPECT_EQ(verification.state, row.state);
    EXPECT_EQ(verification.cause.reason, row.reason);
    EXPECT_THAT(verification.cause.message, HasSubstr(row.says));
  }
}

TEST_F(VerificationTest, WhatAConfigPromisesIsToldByWhoKnowsIt) {
  struct Row {
    const char* sentence;
    const char* config;
    int gpus, instances;
    const char* says;  // empty: verified
  };
  const Row rows[] = {
      {"off, and all GPUs are there", "all-disabled", 4, 0, ""},
      {"off, and one is not", "all-disabled", 3, 0, "mig-manager reports success, but"},
      {"off, and they are still cut", "all-disabled", 4, 7, "mig-manager reports success, but"},
      {"other people's, which promises some GPU", "theirs", 0, 1, ""},
      {"other people's, and there is none", "theirs", 0, 0,
       "mig-manager reports success, but none of NVIDIA's resources is allocatable"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.sentence);
    NodeRollout rollout = *read_rollout(node).rollout;
    rollout.config = row.config;
    node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
    node.meta.labels.set(names::kMigConfig, row.config);
    node.allocatable.set("nvidia.com/gpu", Quantity::whole(row.gpus));
    node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(row.instances));
    const Verification verification = verify_node();
    EXPECT_EQ(verification.state, *row.says == '\0' ? State::kDone : State::kMismatch);
    EXPECT_THAT(verification.cause.message, HasSubstr(row.says));
  }
}

TEST_F(VerificationTest, TheLayoutThatTookTheNodeKnowsItsConfigThoughAnotherOwnsIt) {
  world.add(layout("other").priority(5).profiles({{"7g.80gb", 1}}));
  EXPECT_EQ(verify_node().state, State::kDone);
  node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(27));
  EXPECT_EQ(verify_node().state, State::kMismatch);
}

TEST_F(VerificationTest, OfPausedPodsItIsToldWhichAndFromWhenOnThatIsAFault) {
  node.meta.labels.set(names::kMigConfigState, "pending");
  EXPECT_EQ(verify_node().cause.message, "mig-manager is repartitioning the GPUs");
  node.meta.labels.set("nvidia.com/gpu.deploy.dcgm", names::kPausedForMigChange);
  EXPECT_EQ(verify_node().cause.message,
            "mig-manager is repartitioning the GPUs, and has paused dcgm "
            "(nvidia.com/gpu.deploy.…) until that is done");
  world.now += 20min;
  EXPECT_EQ(
      verify_node().cause.message,
      "mig-manager has paused dcgm (nvidia.com/gpu.deploy.…) and not resumed it; see its log");
  node.meta.labels.set("nvidia.com/gpu.deploy.nvsm", names::kPausedForMigChange);
  EXPECT_THAT(verify_node().cause.message, HasSubstr("has paused dcgm, nvsm"));
  EXPECT_THAT(verify_node().cause.message, HasSubstr("and not resumed them; see its log"));
}

TEST_F(VerificationTest, AllocatableIsWatchedForAWhileAfterTheLabelAndAfterItsLastChange) {
  const Time labelled = world.now - 10min;
  const Duration watched = world.settings.verify_for;
  world.now = labelled + watched - 1ms;
  Snapshot snapshot = world.snapshot();
  LayoutView view(snapshot);
  const Node& n1 = *world.cluster.nodes().find("n1");
  EXPECT_EQ(verify(situation_of(snapshot, view, n1)).state, State::kSteadying);
  EXPECT_EQ(verify(situation_of(snapshot, view, n1)).due, labelled + watched);
  snapshot.now += 1ms;
  EXPECT_EQ(verify(situation_of(snapshot, view, n1)).state, State::kDone);

  node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(27));
  world.cluster.upsert(node, snapshot.now);
  node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(28));
  world.cluster.upsert(node, snapshot.now + 1s);
  const Verification again =
      verify(situation_of(snapshot, view, *world.cluster.nodes().find("n1")));
  EXPECT_EQ(again.state, State::kSteadying);
  EXPECT_EQ(again.due, snapshot.now + 1s + watched);
}

}  // namespace
}  // namespace berth::test
