// SPDX-License-Identifier: Apache-2.0
// Why berth claims no node, or no further one: the messages for the waiting nodes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "apis/base/reasons.h"
#include "controller/disruption/drain.h"
#include "controller/mig/rollout_choice.h"
#include "tests/mig/planned_cluster.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

struct RolloutClosed : ::testing::Test {
  // Nodes with this budget, all of which may be tried.
  void nodes(int count, int max_unavailable) {
    world.add_nodes(count);
    edit([&](MIGLayoutSpec& spec) {
      spec.rollout.max_unavailable = {max_unavailable, false};
      spec.rollout.initial_batch = count;
    });
    config = world.render_agent_config("small");
  }
  template <class F>
  void edit(F change) {
    change(small.spec);
    world.add(small);
  }
  Node plain(const std::string& name) { return test::node(name).a100_80(4).label("tier", "mig"); }
  RolloutChoice decide(bool offline = false) {
    Snapshot snapshot = world.snapshot();
    snapshot.offline = offline;
    return decide_rollout(snapshot, *world.cluster.mig_layouts().find("small"));
  }
  static std::vector<std::string> taken(const RolloutChoice& choice) {
    std::vector<std::string> names;
    for (const NodeClaim& claim : choice.take) names.push_back(claim.node->meta.name);
    return names;
  }
  static std::string told(const RolloutChoice& choice, const std::string& node) {
    for (const NodeStanding& s : choice.nodes)
      if (s.node->meta.name == node) return s.cause.reason + ": " + s.cause.message;
    return "";
  }
  void fail(const std::string& name) {
    Node failed = on_its_way(plain(name), small, config, RolloutPhase::kFailed, world.now);
    NodeRollout rollout = *read_rollout(failed).rollout;
    rollout.failed_config = config;
    failed.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
    world.add(failed);
  }
  MIGLayout small = under_way(layout("small").retire("nvidia.com/gpu"));
  PlannedCluster world;
  std::string config;
};

TEST_F(RolloutClosed, WhatHoldsForEveryNodeIsToldToEach) {
  struct Case {
    const char* sentence;
    std::function<void()> stands;
    const char* told;
  };
  for (const Case& c : {
           Case{"its rules are broken",
                [&] {
                  edit([](MIGLayoutSpec& s) {
                    s.capacity_guard.min_available["nvidia.com/gpu"] = 1;
                  });
                },
                "InvalidLayout: "},
           Case{"a node has failed", [&] { fail("n2"); },
                "LayoutHalted: no further node is touched: n2 has failed; see its message"},
           Case{"paused", [&] { edit([](MIGLayoutSpec& s) { s.rollout.paused = true; }); },
                "Paused: spec.rollout.paused is set"},
           Case{"no window is open",
                [&] {
                  world.add(
                      policy("disruption: {windows: [{schedule: \"0 22 * * *\", duration: 2h}]}"));
                },
                "DisruptionWindow: GPUClusterPolicy allows no disruption before"},
           Case{"the agent reads another file",
                [&] {
                  DaemonSet agent = **world.cluster.daemon_sets().begin();
                  agent.config_map_volumes.clear();
                  world.add(agent);
                },
                "AgentNotConfigured: set spec.migManager.config.name"},
           Case{"the ledger is gone",
                [&] {
                  world.cluster.erase<ConfigMap>(world.settings.berth_namespace,
                                                 names::kSlotsConfigMap);
                },
                "Claiming: ConfigMap berth-node-slots is missing; berth is about to create it"},
       }) {
    SCOPED_TRACE(c.sentence);
    world = PlannedCluster();
    small = under_way(layout("small").retire("nvidia.com/gpu"));
    nodes(2, 2);
    EXPECT_THAT(taken(decide()), ElementsAre("n1", "n2"));
    c.stands();
    const RolloutChoice choice = decide();
    EXPECT_THAT(taken(choice), IsEmpty());
    ASSERT_TRUE(choice.closed);
    EXPECT_THAT(told(choice, "n1"), StartsWith(c.told));
  }
  EXPECT_THAT(taken(decide(true)), ElementsAre("n1", "n2")) << "offline nothing has to be there";
}

TEST_F(RolloutClosed, UntilTheAgentReadsItWhatNodesUseHasToBePutIntoBerthsFile) {
  nodes(1, 1);
  DaemonSet agent = **world.cluster.daemon_sets().begin();
  agent.config_map_volumes.clear();
  world.add(agent);
  Node custom = plain("n1");
  custom.meta.labels.set(names::kMigConfig, "theirs");
  world.add(custom);
  EXPECT_THAT(
      decide().closed->message,
      HasSubstr("; first put config theirs, which nodes use now, into any ConfigMap there"));
}

TEST_F(RolloutClosed, WhoIsOutIsToldByName) {
  nodes(6, 4);
  world.add(plain("n1")).add(Node(test::node("n2").a100_80(4).label("tier", "mig").not_ready()));
  world.add(on_its_way(plain("n1"), small, config, RolloutPhase::kApplying, world.now));
  world.claim("n3", "small");
  Node kept = on_its_way(plain("n4"), small, "c", RolloutPhase::kIdle, world.now);
  NodeRollout rollout =
      *decode_rollout(kept.meta.annotations.get(names::kRolloutAnnotation).view());
  rollout.node_uid = kept.meta.uid;
  rollout.berth_cordoned = true;
  rollout.failed_config = "berth-gone-00000000";
  kept.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
  world.add(kept);
  const RolloutChoice choice = decide();
  EXPECT_EQ(choice.out, 4);
  EXPECT_THAT(
      told(choice, "n6"),
      HasSubstr("4 of 6 selected nodes may be unavailable; out: n1, n2 (not Ready), n3, …"));
  edit([](MIGLayoutSpec& s) { s.rollout.max_unavailable = {0, false}; });
  for (const char* name : {"n1", "n2", "n3"}) world.cluster.erase<Node>("", name);
  EXPECT_THAT(told(decide(), "n6"), HasSubstr("; out: n4 (cordoned by berth since a failure)"));
  world.add(Node(test::node("n4").a100_80(4).label("tier", "mig").cordoned()));
  EXPECT_THAT(told(decide(), "n6"), HasSubstr("; out: n4 (cordoned, not by berth)"));
  world.add(plain("n4"));
  EXPECT_EQ(told(decide(), "n6"), "MaxUnavailable: 0 of 3 selected nodes may be unavailable");
}

TEST_F(RolloutClosed, ThreeThatAreOutAreAllNamedAndOneOnItsWayIsOutThoughInService) {
  nodes(5, 3);
  edit([](MIGLayoutSpec& s) { s.rollout.max_failures = 5; });
  fail("n1");
  world.add(Node(test::node("n2").a100_80(4).label("tier", "mig").not_ready()));
  Node moving = on_its_way(plain("n3"), small, config, RolloutPhase::kApplying, world.now);
  moving.unschedulable.reset();
  world.add(moving);
  EXPECT_EQ(decide().out, 3);
  EXPECT_THAT(told(decide(), "n5"), EndsWith("; out: n1, n2 (not Ready), n3"));
}

TEST_F(RolloutClosed, NobodyIsAskedInAdvanceWhileTheFirstNodesAreVerified) {
  nodes(4, 4);
  edit([](MIGLayoutSpec& s) { s.rollout.initial_batch = 1; });
  for (const char* name : {"n2", "n3", "n4"})
    world.add(pod(fmt::format("p-{}", name)).gpu(1).on(name));
  world.add(on_its_way(plain("n1"), small, config, RolloutPhase::kApplying, world.now));
  EXPECT_THAT(decide().asks, IsEmpty());
}

TEST_F(RolloutClosed, TheFirstNodesHaveToBeVerifiedBeforeTheRest) {
  nodes(5, 5);
  edit([](MIGLayoutSpec& s) { s.rollout.initial_batch = 2; });
  EXPECT_THAT(taken(decide()), ElementsAre("n1", "n2"));
  EXPECT_EQ(told(decide(), "n3"),
            "InitialBatch: the first 2 node(s) have to be verified before the rest start");
  world.add(on_its_way(plain("n1"), small, config, RolloutPhase::kApplying, world.now));
  EXPECT_THAT(taken(decide()), ElementsAre("n2")) << "one is on its way";
  const auto cut = [&](const char* name) {
    return Node(test::node(name)
                    .a100_80(4)
                    .label("tier", "mig")
                    .label(names::kMigConfig, config)
                    .allocatable("nvidia.com/gpu", 0)
                    .allocatable("nvidia.com/mig-1g.10gb", 28));
  };
  world.add(cut("n1"));
  EXPECT_THAT(taken(decide()), ElementsAre("n2"));
  world.add(cut("n2"));
  EXPECT_THAT(taken(decide()), ElementsAre("n3", "n4", "n5"));
}

TEST_F(RolloutClosed, NodesThatAreOutOnItsAccountCountThoughTheyAreNotItsOwnAnyMore) {
  nodes(3, 1);
  world.claim("n1", "small");
  world.add(Node(test::node("n1").a100_80(4).label("tier", "other")));
  EXPECT_EQ(decide().out, 1);
  EXPECT_THAT(taken(decide()), IsEmpty());
  world.claim("n1", "large");
  EXPECT_EQ(decide().out, 0);
  EXPECT_THAT(taken(decide()), ElementsAre("n2"));
}

TEST_F(RolloutClosed, WhoLosesANodeToAnotherLayoutIsToldUnlessItIsBeingDeleted) {
  nodes(2, 1);
  MIGLayout other = layout("other").priority(5);
  other.spec.node_selector = LabelSelector{{{"kubernetes.io/hostname", "n1"}}, {}};
  MIGLayout third = layout("third").priority(9);
  third.spec.node_selector = LabelSelector{{{"tier", "third"}}, {}};
  world.add(third).add(Node(test::node("n4").a100_80(4).label("tier", "third")));
  world.add(other).add(Node(test::node("n3").a100_80(4)));
  EXPECT_THAT(decide().lost, ElementsAre("n1 (other: priority 5 over 0)"));
  EXPECT_THAT(decide().nodes, SizeIs(1));
  small.meta.deletion_timestamp = world.now;
  world.add(small);
  EXPECT_THAT(decide().lost, IsEmpty());
}

// --- answers about pods ---

TEST_F(RolloutClosed, AQuestionKeepsTheNodesPlaceUntilItIsAnswered) {
  nodes(3, 1);
  for (const char* name : {"n1", "n2", "n3"})
    world.add(pod(fmt::format("p-{}", name)).gpu(1).on(name));
  edit([](MIGLayoutSpec& s) { s.rollout.order = RolloutOrder::kName; });
  RolloutChoice choice = decide();
  EXPECT_THAT(taken(choice), IsEmpty());
  EXPECT_EQ(told(choice, "n1"),
            "AskingPods: asking the API server whether 1 pod(s) may be evicted");
  EXPECT_THAT(told(choice, "n2"), StartsWith("MaxUnavailable"));
  EXPECT_THAT(choice.asks, SizeIs(3)) << "the next ones are asked about in advance";
  const auto answer = [&](const char* name, bool yes, Time at) {
    Answer said;
    said.yes = yes;
    if (!yes) said.error = {.message = "policy", .http_code = 403};
    said.at = at;
    world.answers.put(question(ask_of(*world.cluster.pods().find("team-a", name))), said);
  };
  answer("p-n1", false, world.now);
  answer("p-n2", true, world.now);
  choice = decide();
  EXPECT_THAT(taken(choice), ElementsAre("n2"));
  EXPECT_THAT(told(choice, "n1"), StartsWith("EvictionForbidden: the API server refuses to evict"));
  EXPECT_THAT(choice.asks, SizeIs(1)) << "of n3";
  world.now += world.settings.answer_ttl / 2;
  EXPECT_THAT(decide().asks, SizeIs(2)) << "and of n1 again, whose answer ages";
}

TEST_F(RolloutClosed, OnlySomeNodesAreAskedAboutInAdvance) {
  nodes(9, 1);
  for (int i = 1; i <= 9; ++i)
    world.add(pod(fmt::format("p{}", i)).gpu(1).on(fmt::format("n{}", i)));
  edit([](MIGLayoutSpec& s) { s.rollout.order = RolloutOrder::kName; });
  EXPECT_THAT(decide().asks, SizeIs(5)) << "n1's, and four more";
  world.add(Node(test::node("n9").a100_80(4).label("tier", "mig").not_ready()));
  EXPECT_THAT(decide().asks, IsEmpty()) << "there is no room for anybody";
}

TEST_F(RolloutClosed, ANodeThatWasTriedAndRefusedSaysSoWhenItsTurnHasComeAgain) {
  nodes(1, 1);
  EXPECT_EQ(told(decide(), "n1"), "Claiming: its turn has come");
  NodeRollout refused;
  refused.cause = reasons::kWriteRefused;
  refused.why = "the API server refuses it";
  refused.since = world.now;
  Node node = plain("n1");
  node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(refused));
  world.add(node);
  EXPECT_THAT(taken(decide()), ElementsAre("n1"));
  EXPECT_EQ(told(decide(), "n1"), "WriteRefused: the API server refuses it");
  refused.cause = reasons::kPodsLeaving;
  node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(refused));
  world.add(node);
  EXPECT_EQ(told(decide(), "n1"), "Claiming: its turn has come");
}

TEST_F(RolloutClosed, ThePoolsBudgetAndTheGuardHaveTheLastWord) {
  nodes(3, 3);
  world.add(
      policy("pools: [{name: mig, nodeSelector: {matchLabels: {tier: mig}}}], disruption: "
             "{maxUnavailable: 2}"));
  EXPECT_THAT(taken(decide()), ElementsAre("n1", "n2"));
  EXPECT_THAT(told(decide(), "n3"), StartsWith("PoolMaxUnavailable: "));
  world.cluster.erase<GPUClusterPolicy>("", "cluster");
  edit([](MIGLayoutSpec& s) {
    s.capacity_guard.retire.clear();
    s.capacity_guard.min_available["nvidia.com/gpu"] = 8;
  });
  EXPECT_THAT(taken(decide()), ElementsAre("n1"));
  EXPECT_THAT(told(decide(), "n2"), StartsWith("CapacityGuard: nvidia.com/gpu would fall to 4"));
}

}  // namespace
}  // namespace berth::test
