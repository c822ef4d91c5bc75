// SPDX-License-Identifier: Apache-2.0
// The status that follows from the nodes' states: its counts, its ordered details, and whether the
// layout continues by itself or needs a user.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/reasons.h"
#include "controller/mig/layout_status.h"
#include "controller/mig/standing.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using enum NodeBucket;

// The state of one node.
struct Stands {
  NodeBucket bucket;
  const char* reason = "";
  bool out = false;
  bool stuck = false;
};

struct StatusOfChoice : ::testing::Test {
  StatusOfChoice() { choice.budget = 1; }
  // n1, n2, … in these states, each with the message "NAME waits".
  void put(const std::vector<Stands>& nodes) {
    choice.nodes.clear();
    choice.out = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::string name = fmt::format("n{}", i + 1);
      const bool cordoned = nodes[i].out && nodes[i].bucket != kUpdated;
      if (cordoned)
        world.add(node(name).a100_80(4).cordoned());
      else if (world.cluster.nodes().find(name) == nullptr)
        world.add(node(name).a100_80(4));
      NodeStanding standing;
      standing.node = world.cluster.nodes().find(name);
      standing.bucket = nodes[i].bucket;
      standing.phase = "Phase";
      standing.cause.reason = nodes[i].reason;
      standing.cause.message = "it waits";
      standing.out = nodes[i].out;
      standing.stuck = nodes[i].stuck;
      choice.out += nodes[i].out ? 1 : 0;
      choice.nodes.push_back(standing);
    }
  }
  StatusUpdate update() {
    const Snapshot snapshot = world.snapshot();
    return compute_layout_status(snapshot, *world.cluster.mig_layouts().find("small"), choice);
  }
  json status() { return json::parse(update().body)["status"]; }
  // "Stalled NodeFailed: n1: it waits", "Reconciling …", "Ready", or "only Ready=False …".
  std::string told() {
    std::string ready, other;
    const json all = status();
    for (const json& c : all["conditions"]) {
      if (c["status"] != "True" && c["type"] != "Ready") continue;
      const std::string text =
          fmt::format("{} {}: {}", c["type"].get<std::string>(), c["reason"].get<std::string>(),
                      c["message"].get<std::string>());
      if (c["type"] == "Ready")
        ready = (c["status"] == "True" ? "" : "not ") + text;
      else
        other = text;
    }
    return other.empty() ? ready : other;
  }
  template <class F>
  void edit(F change) {
    change(small);
    world.add(small);
  }
  PlannedCluster world;
  MIGLayout small = under_way(layout("small"));
  RolloutChoice choice;

  void SetUp() override { world.add(small); }
};

TEST_F(StatusOfChoice, NodesCountByTheirColumn) {
  put({{kUpdated},
       {kInProgress},
       {kInProgress},
       {kBlocked},
       {kFailed},
       {kFailed},
       {kFailed},
       {kPending, reasons::kMaxUnavailable},
       {kPending, reasons::kClaiming}});
  const json nodes = status()["nodes"];
  EXPECT_EQ(nodes["selected"], 9);
  EXPECT_EQ(nodes["updated"], 1);
  EXPECT_EQ(nodes["inProgress"], 3) << "one that is claimed with this plan is out already";
  EXPECT_EQ(nodes["blocked"], 1);
  EXPECT_EQ(nodes["failed"], 3);
  EXPECT_EQ(nodes["pending"], 1);
}

TEST_F(StatusOfChoice, DetailsComeWorstFirstAndNoneOfNodesThatAreUpToDate) {
  put({{kPending, "P"},
       {kUpdated},
       {kInProgress, "I"},
       {kBlocked, "B"},
       {kFailed, "F"},
       {kInProgress, "S", true, true},
       {kPending, "P"}});
  choice.nodes[0].since = world.now + 999ms;
  std::vector<std::string> nodes;
  const json stands = status();
  const json& details = stands["details"];
  for (const json& detail : details) nodes.push_back(detail["node"]);
  EXPECT_THAT(nodes, ElementsAre("n5", "n6", "n4", "n3", "n1", "n7"));
  EXPECT_EQ(details[4]["since"], "2026-11-21T12:00:00Z");
  EXPECT_FALSE(details[5].contains("since"));
  EXPECT_EQ(details[0]["phase"], "Phase");
  put(std::vector<Stands>(limits::kMaxDetails + 1, {kPending, "P"}));
  EXPECT_THAT(status()["details"], SizeIs(limits::kMaxDetails));
}

TEST_F(StatusOfChoice, ConfigsAreToldOnceByProductAndHashedByContent) {
  choice.configs = {{"B", "b", "x"}, {"A", "a", "x"}, {"B", "b", "x"}};
  put({{kUpdated}});
  const json told = status();
  EXPECT_EQ(told["configs"],
            json::parse(R"([{"product":"A","name":"a"},{"product":"B","name":"b"}])"));
  const std::string hash = told["configHash"];
  choice.configs = {{"C", "c", "x"}};
  EXPECT_EQ(status()["configHash"], hash) << "whatever the product is called";
  choice.configs.push_back({"C", "d", "y"});
  EXPECT_NE(status()["configHash"], hash);
}

TEST_F(StatusOfChoice, CapacityIsWhatItsNodesOfferOfNvidiasResources) {
  world.add(node("n1").a100_80(4).allocatable("cpu", 64).allocatable("nvidia.com/mig-1g.10gb", 0));
  world.add(node("n2").a100_80(2).allocatable("nvidia.com/mig-1g.10gb", 7));
  put({{kUpdated}, {kPending, "P"}});
  EXPECT_EQ(status()["capacity"],
            json::parse(R"({"nvidia.com/gpu":6,"nvidia.com/mig-1g.10gb":7})"));
}

TEST_F(StatusOfChoice, ItGoesOnByItselfOrNeedsAPerson) {
  using namespace reasons;
  struct Case {
    const char* sentence;
    std::vector<Stands> nodes;
    const char* told;
  };
  for (const Case& c : {
           Case{"all done",
                {{kUpdated}, {kUpdated}},
                "Ready AllNodesUpdated: 2 of 2 nodes are up to date"},
           Case{"one on its way",
                {{kInProgress, kSettling, true}, {kPending, kMaxUnavailable}},
                "Reconciling RollingOut: 0 of 2 nodes are up to date; n1: it waits"},
           Case{"one on its way is stuck",
                {{kInProgress, kWriteRefused, true, true}, {kPending, kMaxUnavailable}},
                "Stalled WriteRefused: n1: it waits"},
           Case{"a failed one keeps the only place",
                {{kUpdated}, {kFailed, kNodeFailed, true}, {kPending, kMaxUnavailable}},
                "Stalled NodeFailed: n2: it waits"},
           Case{"a failed one keeps no place",
                {{kFailed, kNodeFailed, false}, {kPending, kMaxUnavailable}},
                "Reconciling MaxUnavailable: n2: it waits"},
           Case{"only failed ones are left",
                {{kUpdated}, {kFailed, kNodeFailed, false}},
                "Stalled NodeFailed: n2: it waits"},
           Case{"a pod has to end",
                {{kBlocked, kUnmanagedPod}},
                "Reconciling UnmanagedPod: n1: it waits"},
           Case{"GPUs that can't be cut",
                {{kBlocked, kMigNotCapable}},
                "Stalled MigNotCapable: n1: it waits"},
           Case{"the same beside one that waits",
                {{kBlocked, kMigNotCapable}, {kPending, kMaxUnavailable}},
                "Reconciling MaxUnavailable: n2: it waits"},
           Case{"the same beside one on its way",
                {{kBlocked, kMigNotCapable}, {kInProgress, kSettling, true}},
                "Reconciling RollingOut: 0 of 2 nodes are up to date; n1: it waits"},
           Case{"the first nodes have to be verified, and one has failed",
                {{kFailed, kNodeFailed, false}, {kPending, kInitialBatch}},
                "Stalled NodeFailed: n1: it waits"},
           Case{"the first nodes have to be verified, and one waits",
                {{kBlocked, kUnmanagedPod}, {kPending, kInitialBatch}},
                "Reconciling UnmanagedPod: n1: it waits"},
           Case{"an agent is at work",
                {{kPending, kAgentPending}},
                "Reconciling RollingOut: 0 of 1 nodes are up to date; n1: it waits"},
           Case{"pods are asked", {{kPending, kAskingPods}}, "Reconciling RollingOut: 0 of 1"},
           Case{"a drain is tried again", {{kPending, kBackingOff}}, "Reconciling RollingOut: "},
           Case{"one is about to be taken", {{kPending, kClaiming}}, "Reconciling RollingOut: "},
           Case{"the file is about to be written",
                {{kPending, kConfigNotRendered}},
                "Reconciling RollingOut: "},
           Case{"no window opens any more",
                {{kPending, kDisruptionWindow}},
                "Stalled DisruptionWindow: n1: it waits"},
           Case{"one that is blocked for that is nobody's to bring on",
                {{kBlocked, kAgentPending}},
                "Reconciling AgentPending: n1: it waits"},
       }) {
    SCOPED_TRACE(c.sentence);
    put(c.nodes);
    EXPECT_THAT(told(), StartsWith(c.told));
  }
}

TEST_F(StatusOfChoice, AWindowThatOpensIsWaitedFor) {
  put({{kPending, reasons::kDisruptionWindow}});
  choice.calendar_changes_at = world.now + 1h;
  EXPECT_THAT(told(), StartsWith("Reconciling DisruptionWindow: n1"));
}

TEST_F(StatusOfChoice, WhatFailedKeepsOthersOutOnlyAsFarAsTheBudgetGoes) {
  choice.budget = 2;
  put({{kFailed, reasons::kNodeFailed, true}, {kPending, reasons::kMaxUnavailable}});
  EXPECT_THAT(told(), StartsWith("Reconciling MaxUnavailable"));
  put({{kFailed, reasons::kNodeFailed, true},
       {kInProgress, reasons::kWriteRefused, true, true},
       {kPending, reasons::kMaxUnavailable}});
  EXPECT_THAT(told(), StartsWith("Stalled NodeFailed: n1"));
  choice.budget = 0;
  put({{kPending, reasons::kMaxUnavailable}});
  EXPECT_THAT(told(), StartsWith("Reconciling MaxUnavailable")) << "nothing is kept";
}

TEST_F(StatusOfChoice, WhatHoldsForAllIsToldOfTheFirstThatSaysIt) {
  choice.closed = Cause{reasons::kLayoutHalted, "no further node is touched"};
  put({{kBlocked, reasons::kUnmanagedPod}, {kPending, reasons::kLayoutHalted}});
  EXPECT_EQ(told(), "Stalled LayoutHalted: n2: it waits");
  put({{kBlocked, reasons::kUnmanagedPod}});
  EXPECT_EQ(told(), "Stalled LayoutHalted: no further node is touched");
  choice.closed = Cause{reasons::kDisruptionWindow, "before ten"};
  choice.calendar_changes_at = world.now + 1h;
  put({{kPending, reasons::kBackingOff}});
  EXPECT_THAT(told(), StartsWith("Reconciling BackingOff: n1")) << "nothing moves before that";
  choice.closed = Cause{reasons::kClaiming, "the ledger is made"};
  EXPECT_THAT(told(), StartsWith("Reconciling RollingOut"));
}

TEST_F(StatusOfChoice, ANodeThatComesBackOrIsBroughtBackMovesIt) {
  put({{kUpdated, "", true}, {kBlocked, reasons::kMigNotCapable}});
  EXPECT_THAT(told(), StartsWith("Reconciling RollingOut")) << "its slot is freed next";
  put({{kUpdated}, {kBlocked, reasons::kMigNotCapable}});
  EXPECT_THAT(told(), StartsWith("Stalled MigNotCapable"));
  ++choice.out;
  EXPECT_THAT(told(), StartsWith("Reconciling RollingOut")) << "one that is no more its own";
  world.add(node("n1").a100_80(4).cordoned());
  put({{kUpdated, "", true}, {kBlocked, reasons::kMigNotCapable}});
  EXPECT_THAT(told(), StartsWith("Stalled MigNotCapable")) << "out for somebody else";
}

TEST_F(StatusOfChoice, ADeviceThatIsMissingIsMendedByItselfForAWhile) {
  put({{kPending, reasons::kAllocatableMismatch}});
  EXPECT_THAT(told(), StartsWith("Reconciling RollingOut"));
  world.now += small.spec.rollout.progress_deadline - 1ms;
  EXPECT_THAT(told(), StartsWith("Reconciling RollingOut"));
  world.now += 1ms;
  EXPECT_THAT(told(), StartsWith("Stalled AllocatableMismatch: n1"));
}

TEST_F(StatusOfChoice, APausedLayoutIsNeitherStalledNorReconciling) {
  edit([](MIGLayout& l) { l.spec.rollout.paused = true; });
  choice.closed = Cause{reasons::kPaused, "paused"};
  put({{kUpdated}, {kPending, reasons::kPaused}});
  EXPECT_EQ(told(), "not Ready Paused: 1 of 2 nodes are up to date; spec.rollout.paused is set");
  put({{kInProgress, reasons::kVerifying, true}, {kPending, reasons::kPaused}});
  EXPECT_THAT(told(), StartsWith("Reconciling RollingOut: 0 of 2")) << "what was begun goes on";
}

TEST_F(StatusOfChoice, ALayoutThatIsWrongIsStalledWhateverMovesUnlessItGoes) {
  put({{kInProgress, reasons::kSettling, true}});
  edit([](MIGLayout& l) {
    l.spec.capacity_guard.retire = {"nvidia.com/gpu"};
    l.spec.capacity_guard.min_available["nvidia.com/gpu"] = 1;
  });
  EXPECT_THAT(told(), StartsWith("Stalled InvalidSpec: spec.capacityGuard.retire"));
  edit([&](MIGLayout& l) { l.meta.deletion_timestamp = world.now; });
  EXPECT_THAT(told(), StartsWith("Reconciling Deleting: "));
}

TEST_F(StatusOfChoice, WithoutNodesItSaysWhoHasThem) {
  put({});
  EXPECT_THAT(told(), StartsWith("Reconciling NoNodesSelected: "));
  EXPECT_THAT(told(), HasSubstr("; label the nodes, or edit spec.nodeSelector"));
  choice.lost = {"n1 (other: priority 5 over 0)"};
  EXPECT_THAT(told(), HasSubstr("other MIGLayouts own every selected node: n1 (other: priority 5"));
  put({{kUpdated}});
  choice.lost.push_back("n2 (other)");
  EXPECT_EQ(told(),
            "Ready AllNodesUpdated: 1 of 1 nodes are up to date; 2 more belong to other "
            "layouts: n1 (other: priority 5 over 0), …");
  choice.lost.pop_back();
  EXPECT_THAT(told(), testing::EndsWith("; 1 more belong to other layouts: n1 (other: priority 5 "
                                        "over 0)"));
}

TEST_F(StatusOfChoice, WhileItGoesItSaysWhomItWaitsFor) {
  edit([&](MIGLayout& l) { l.meta.deletion_timestamp = world.now; });
  put({});
  EXPECT_EQ(told(), "Reconciling Deleting: waiting for the nodes in progress");
  put({{kUpdated}, {kPending, reasons::kMaxUnavailable}});
  EXPECT_EQ(told(), "Reconciling Deleting: MIG is off on 1 of 2 nodes; n2: it waits");
  world.add(on_its_way(node("n3").a100_80(4), small, "c", RolloutPhase::kApplying, world.now));
  MIGLayout other = layout("other");
  world.add(on_its_way(node("n4").a100_80(4), other, "c", RolloutPhase::kApplying, world.now));
  EXPECT_EQ(told(), "Reconciling Deleting: waiting for n3 (Applying)");
  put({{kUpdated}});
  EXPECT_THAT(told(), StartsWith("Reconciling Deleting")) << "all done is no end there";
}

TEST_F(StatusOfChoice, IsUrgentWhenTheFirstNodeLeavesOrAVerdictChanges) {
  put({{kPending, reasons::kMaxUnavailable}, {kPending, reasons::kMaxUnavailable}});
  EXPECT_TRUE(update().urgent) << "nothing was told yet";
  const auto stand = [&] {
    const StatusUpdate now = update();
    MIGLayout stored = *world.cluster.mig_layouts().find("small");
    const json told = json::parse(now.body)["status"];
    stored.status.nodes.in_progress = told["nodes"]["inProgress"];
    stored.status.conditions.clear();
    for (const json& c : told["conditions"])
      stored.status.conditions.push_back({c["type"], c["status"], c["reason"], c["message"],
                                          c["observedGeneration"].get<std::int64_t>(), world.now});
    world.add(stored);
  };
  stand();
  EXPECT_FALSE(update().urgent);
  put({{kPending, reasons::kClaiming}, {kPending, reasons::kMaxUnavailable}});
  EXPECT_TRUE(update().urgent);
  stand();
  put({{kInProgress, reasons::kSettling, true}, {kPending, reasons::kMaxUnavailable}});
  EXPECT_FALSE(update().urgent) << "it goes on";
}

}  // namespace
}  // namespace berth::test
