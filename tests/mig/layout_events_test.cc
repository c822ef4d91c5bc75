// SPDX-License-Identifier: Apache-2.0
// Events for users who describe a layout, from each status change.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class LayoutEvents : public ::testing::Test {
 protected:
  std::vector<std::string> told() { return world_.write_status("layout/small"); }
  // Four nodes, and a rollout that is ready for its first step.
  void start() {
    world_.add_nodes(4).add(layout_);
    config_ = world_.render_agent_config("small");
    told();
  }
  Node node(const std::string& name) { return *world_.cluster.nodes().find(name); }
  void take(const std::string& name, RolloutPhase phase = RolloutPhase::kApplying) {
    world_.claim(name, "small");
    world_.add(on_its_way(test::node(name).a100_80(4).label("tier", "mig"), layout_, config_, phase,
                          world_.now));
  }
  void free_slots() {
    ConfigMap ledger = world_.ledger();
    ledger.data.clear();
    world_.add(ledger);
  }
  // Back in service with the layout.
  void finish(const std::string& name, int instances = 28) {
    world_.add(test::node(name)
                   .a100_80(4)
                   .label("tier", "mig")
                   .label(names::kMigConfig, config_)
                   .allocatable("nvidia.com/gpu", 0)
                   .allocatable("nvidia.com/mig-1g.10gb", instances));
    free_slots();
  }
  void fail(const std::string& name) {
    Node node = on_its_way(test::node(name).a100_80(4).label("tier", "mig"), layout_, config_,
                           RolloutPhase::kFailed, world_.now);
    NodeRollout rollout = *read_rollout(node).rollout;
    rollout.failed_config = config_;
    rollout.why = "mig-manager reported failed";
    node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
    world_.add(node);
  }
  void hold(const std::string& name) {
    Node held = node(name);
    held.meta.annotations.set(names::kHoldAnnotation, "mine");
    world_.add(held);
  }
  template <class F>
  void edit(F change) {
    MIGLayout now = *world_.cluster.mig_layouts().find("small");
    change(now);
    ++now.meta.generation;
    world_.add(now);
  }

  MIGLayout layout_ = under_way(layout("small").retire("nvidia.com/gpu"));
  PlannedCluster world_;
  std::string config_;
};

TEST_F(LayoutEvents, ARolloutFromItsStartToItsEnd) {
  world_.add_nodes(2).add(layout_);
  config_ = world_.render_agent_config("small");
  EXPECT_THAT(told(), ElementsAre("Normal RolloutStarted: 2 of 2 nodes are to be changed, at most "
                                  "1 unavailable at once"));
  take("n1");
  EXPECT_THAT(told(), IsEmpty()) << "each step is told of the node";
  world_.now += minutes(3);
  EXPECT_THAT(told(), IsEmpty());
  finish("n1");
  EXPECT_THAT(told(), ElementsAre("Normal NodeUpdated: node n1 updated, 1 of 2"));
  take("n2");
  EXPECT_THAT(told(), IsEmpty());
  finish("n2");
  EXPECT_THAT(told(), ElementsAre("Normal NodeUpdated: node n2 updated, 2 of 2",
                                  "Normal RolloutFinished: 2 of 2 nodes are up to date"));
  EXPECT_THAT(told(), IsEmpty());
}

// The next leader knows only what the cluster stores.
TEST_F(LayoutEvents, ARestartTellsNothingAnew) {
  start();
  finish("n1");
  take("n2");
  fail("n3");
  hold("n4");
  told();
  PlannedCluster next;
  for (const auto& object : world_.cluster.nodes()) next.add(*object);
  for (const auto& object : world_.cluster.config_maps()) next.add(*object);
  for (const auto& object : world_.cluster.mig_layouts()) next.add(*object);
  next.now = world_.now + minutes(1);
  EXPECT_THAT(next.write_status("layout/small"), IsEmpty());
}

TEST_F(LayoutEvents, WhatBlocksItIsToldOnceForEachReason) {
  start();
  for (const char* name : {"n1", "n2", "n3"}) finish(name);
  told();
  hold("n4");
  EXPECT_THAT(told(), ElementsAre(StartsWith("Normal RolloutBlocked: Held: n4: held by a person")));
  for (int i = 0; i < 3; ++i) {
    world_.now += seconds(30);
    EXPECT_THAT(told(), IsEmpty());
  }
  world_.add(test::node("n4").a100_80(4).label("tier", "mig"));
  world_.add(pod("p").on("n4").gpu(1).unmanaged());
  EXPECT_THAT(told(), ElementsAre(StartsWith("Normal RolloutBlocked: UnmanagedPod: n4: ")));
  world_.cluster.erase<Pod>("team-a", "p");
  EXPECT_THAT(told(), IsEmpty()) << "it had started before";
  finish("n4");
  EXPECT_THAT(told(), ElementsAre("Normal NodeUpdated: node n4 updated, 4 of 4",
                                  "Normal RolloutFinished: 4 of 4 nodes are up to date"));
}

TEST_F(LayoutEvents, WhatOnlyAPersonCanSolveIsAWarningAndTheStartFollowsIt) {
  DaemonSet elsewhere;
  elsewhere.meta.name = world_.settings.mig_manager_daemon_set;
  elsewhere.meta.namespace_ = world_.settings.agents_namespace;
  DaemonSet here = **world_.cluster.daemon_sets().begin();
  world_.add(elsewhere);
  start();
  edit([](MIGLayout& now) { now.status = {}; });
  EXPECT_THAT(told(), ElementsAre(StartsWith("Warning RolloutBlocked: AgentNotConfigured: n1: ")));
  EXPECT_THAT(told(), IsEmpty());
  world_.add(here);
  EXPECT_THAT(told(), ElementsAre(StartsWith("Normal RolloutStarted: 4 of 4 nodes")));
}

TEST_F(LayoutEvents, AnEditThatIsAsWrongAsTheOneBeforeIsAnswered) {
  start();
  const auto ask = [&](const char* profile) {
    edit([&](MIGLayout& now) { now.spec.devices = {DeviceLayout{std::nullopt, {{profile, 9}}}}; });
  };
  ask("3g.40gb");
  EXPECT_THAT(told(), ElementsAre(StartsWith("Warning RolloutBlocked: InvalidLayout: n1: ")));
  ask("2g.20gb");
  EXPECT_THAT(told(), ElementsAre(StartsWith("Warning RolloutBlocked: InvalidLayout: n1: ")));
  edit([](MIGLayout& now) { now.spec.priority = 3; });
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(LayoutEvents, AnEditInMidRolloutStartsAnother) {
  start();
  take("n1");
  told();
  edit([](MIGLayout& now) { now.spec.devices = {DeviceLayout{std::nullopt, {{"7g.80gb", 1}}}}; });
  world_.render_agent_config("small");
  EXPECT_THAT(told(), ElementsAre(StartsWith("Normal RolloutStarted: 4 of 4 nodes")));
}

TEST_F(LayoutEvents, AFailedNodeIsToldOnceAndIsNoOtherNews) {
  start();
  fail("n2");
  EXPECT_THAT(told(), ElementsAre(StartsWith("Warning NodeFailed: n2: mig-manager reported failed; "
                                             "edit the layout")));
  EXPECT_THAT(told(), IsEmpty());
}

// The failure was reported while other nodes continued; now that none does, this is new.
TEST_F(LayoutEvents, AFailureThatStopsTheRestLaterIsToldAsWhatBlocksIt) {
  layout_.spec.rollout.max_failures = 2;
  start();
  take("n1");
  fail("n2");
  EXPECT_THAT(told(), ElementsAre(StartsWith("Warning NodeFailed: n2: ")));
  for (const char* name : {"n1", "n3", "n4"}) finish(name);
  EXPECT_THAT(told(), ElementsAre("Normal NodeUpdated: nodes n1, n3, n4 updated, 3 of 4",
                                  StartsWith("Warning RolloutBlocked: NodeFailed: n2: ")));
}

TEST_F(LayoutEvents, ManyNodesAtOnceAreNamedInPart) {
  world_.add_nodes(9).add(layout_);
  config_ = world_.render_agent_config("small");
  told();
  for (int i = 1; i <= 8; ++i) finish(fmt::format("n{}", i));
  EXPECT_THAT(told(),
              ElementsAre("Normal NodeUpdated: nodes n1, n2, n3 and 5 more updated, 8 of 9"));
}

// Allocatable is empty while the device plugin restarts.
TEST_F(LayoutEvents, ADevicePluginThatRestartsIsNoRollout) {
  start();
  for (const char* name : {"n1", "n2", "n3", "n4"}) finish(name);
  told();
  finish("n3", 0);
  EXPECT_THAT(told(), IsEmpty());
  finish("n3");
  EXPECT_THAT(told(), IsEmpty());
  finish("n3", 0);
  EXPECT_THAT(told(), IsEmpty());
  world_.now += std::chrono::hours(1);
  EXPECT_THAT(told(), ElementsAre(StartsWith("Warning RolloutBlocked: AllocatableMismatch: n3: ")));
  finish("n3");
  EXPECT_THAT(told(), ElementsAre("Normal RolloutFinished: 4 of 4 nodes are up to date"));
}

TEST_F(LayoutEvents, ANodeThatJoinsStartsARolloutOfItsOwn) {
  start();
  for (const char* name : {"n1", "n2", "n3", "n4"}) finish(name);
  told();
  world_.add(test::node("n5").a100_80(4).label("tier", "mig"));
  EXPECT_THAT(told(), ElementsAre(StartsWith("Normal RolloutStarted: 1 of 5 nodes are to be")));
}

TEST_F(LayoutEvents, APauseAndADeletionAreTold) {
  start();
  edit([](MIGLayout& now) { now.spec.rollout.paused = true; });
  EXPECT_THAT(told(), ElementsAre(StartsWith("Normal RolloutBlocked: Paused: 0 of 4 nodes")));
  edit([](MIGLayout& now) { now.spec.rollout.paused = false; });
  EXPECT_THAT(told(), ElementsAre(StartsWith("Normal RolloutStarted: 4 of 4 nodes")));
  take("n1");
  told();
  edit([&](MIGLayout& now) { now.meta.deletion_timestamp = world_.now; });
  EXPECT_THAT(told(), ElementsAre("Normal Deleting: waiting for n1 (Applying)"));
  EXPECT_THAT(told(), IsEmpty());
  finish("n1");
  const Plan plan = world_.plan("layout/small");
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_EQ(plan.events.front().reason, "Deleted");
  EXPECT_EQ(plan.events.front().regarding, ref_of(layout_));
}

TEST_F(LayoutEvents, ASelectorThatSelectsNothingIsTold) {
  world_.add(layout_);
  EXPECT_THAT(told(), ElementsAre(StartsWith("Normal RolloutBlocked: NoNodesSelected: ")));
  EXPECT_THAT(told(), IsEmpty());
}

}  // namespace
}  // namespace berth::test
