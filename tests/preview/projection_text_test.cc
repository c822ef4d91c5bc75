// SPDX-License-Identifier: Apache-2.0
// A projection as people read it, where no golden is large or odd enough.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/preview/text.h"
#include "controller/preview/text_policy.h"
#include "controller/preview/text_queues.h"
#include "controller/preview/text_under_way.h"

namespace berth {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Time kBegin = *parse_time("2026-11-21T12:00:00Z");

NodeChange recut(const std::string& node) {
  return {.node = node,
          .layout = "mixed",
          .from = "a",
          .to = "b",
          .outcome = NodeChange::Outcome::kRepartitioned};
}

Projection recuts(std::size_t count) {
  Projection p;
  for (std::size_t i = 0; i < count; ++i) p.nodes.push_back(recut(fmt::format("n{:02}", i)));
  return p;
}

PodMove fits(const std::string& pod) {
  return {.pod = pod, .requests = "nvidia.com/gpu: 1", .fate = PodMove::Fate::kFits, .node = "n2"};
}

LayoutSummary unchanged(const std::string& name, int budget) {
  LayoutSummary layout;
  layout.name = name;
  layout.budget = budget;
  return layout;
}

// Where it stood at twelve, and how it ends.
NodeChange in_hand(const std::string& phase, NodeChange::Outcome outcome) {
  NodeChange node = recut("n1");
  node.outcome = outcome;
  node.in_hand = InHand{.phase = phase, .since = kBegin, .config = "b", .cause = {}};
  return node;
}

TEST(ProjectionText, WhereNothingIsToBeDoneItSaysWhatIsMatched) {
  Projection p;
  EXPECT_THAT(print_text(p),
              HasSubstr("Nothing to do: the cluster already matches these layouts.\n"));
  p.policy.emplace();
  EXPECT_THAT(print_text(p), HasSubstr("already matches this policy.\n"));
  p.layouts.push_back(unchanged("mixed", 1));
  EXPECT_THAT(print_text(p), HasSubstr("already matches these layouts and this policy.\n"));
}

TEST(ProjectionText, WhatIsRefusedOrUnderWayIsAPlanToo) {
  Projection refused;
  refused.refusals.push_back({.layout = "mixed",
                              .nodes = {},
                              .cause = {"Contested", "somebody else labels it"},
                              .line = "rollout: {paused: false}"});
  refused.refusals.push_back({.layout = "mixed", .nodes = {"n1", "n2"}, .cause = {"Held", "held"}});
  EXPECT_THAT(print_text(refused),
              AllOf(HasSubstr("Plan: 0 nodes to repartition, 0 pods to evict, 2 refusals.\n"),
                    HasSubstr("\nRefused or waiting\n  MIGLayout/mixed: Contested\n    somebody "
                              "else labels it\n    add to spec of MIGLayout/mixed:  rollout: "
                              "{paused: false}\n  n1, n2: Held\n    held\n")));
  Projection under_way;
  under_way.begin = kBegin;
  under_way.under_way.push_back(in_hand("Draining", NodeChange::Outcome::kUnfinished));
  under_way.under_way[0].in_hand->cause.message = "a pod stays";
  EXPECT_THAT(
      print_text(under_way),
      AllOf(HasSubstr("Plan: 1 node under way, 0 nodes to repartition, 0 pods to evict, 0 "
                      "refusals.\n"),
            HasSubstr("\nUnder way\n  n1  being drained since 12:00:00Z, stays out of service: a "
                      "pod stays\n")));
}

TEST(ProjectionText, MoreThanFivePodsOfOneNodeAreToldByTheirFate) {
  Projection p = recuts(1);
  for (int i = 0; i < 5; ++i) p.nodes[0].pods.push_back(fits(fmt::format("team/p{}", i)));
  EXPECT_THAT(print_text(p),
              AllOf(HasSubstr("1 node to repartition, 5 pods to evict"), Not(HasSubstr("more"))));
  p.nodes[0].pods.push_back(fits("team/p5"));
  p.nodes[0].pods.push_back(
      {.pod = "team/q", .requests = "nvidia.com/gpu: 1", .fate = PodMove::Fate::kEnds});
  EXPECT_THAT(print_text(p),
              AllOf(HasSubstr("1 node to repartition, 6 pods to evict"),
                    HasSubstr("team/p0 and 5 more  nvidia.com/gpu: 1  fits on n2\n"),
                    HasSubstr("team/q              nvidia.com/gpu: 1  runs until it ends\n")));
}

TEST(ProjectionText, MoreThanTwentyNodesAreToldInRuns) {
  EXPECT_THAT(print_text(recuts(20)),
              AllOf(HasSubstr("\n   1  n00  a → b\n"), HasSubstr("\n  20  n19  a → b\n")));
  Projection p = recuts(24);
  p.nodes[10].was_out = true;
  p.nodes[22].outcome = p.nodes[23].outcome = NodeChange::Outcome::kPutBack;
  EXPECT_THAT(print_text(p),
              AllOf(HasSubstr("\n  1-10  n00, n01, n02, … n09 (10 nodes)  a → b\n"),
                    HasSubstr("\n  11  n10  a → b  (stays cordoned, as it was before)\n"),
                    HasSubstr("\n  12-22  n11, n12, n13, … n21 (11 nodes)  a → b\n"),
                    HasSubstr("\n  23  n22  drained without success, returned unchanged\n"),
                    HasSubstr("\n  24  n23  drained without success, returned unchanged\n")));
  p.nodes[5].pods.push_back(fits("team/p"));
  EXPECT_THAT(print_text(p), AllOf(HasSubstr("\n  1-5  "), HasSubstr("\n   6  n05  a → b\n"),
                                   HasSubstr("\n  7-10  ")))
      << "who loses a pod is told alone";
}

TEST(ProjectionText, AConfigThatWasNeverSetAndOneThatIsNotReachedAreTold) {
  Projection p = recuts(1);
  p.nodes[0].from.clear();
  p.nodes[0].outcome = NodeChange::Outcome::kUnfinished;
  EXPECT_THAT(print_text(p), HasSubstr("n00  (none) → b  (not finished)\n"));
}

TEST(ProjectionText, NodesGoInOrderWithinTheirLimits) {
  Projection p = recuts(1);
  p.layouts.push_back(unchanged("left", 2));
  EXPECT_THAT(print_text(p), HasSubstr("\nNodes in order (at most 2 unavailable)\n"));
  p.layouts.push_back(unchanged("right", 1));
  p.policy.emplace();
  p.policy->windows = DisruptionStatus{.open = false, .next_opening = kBegin};
  EXPECT_THAT(print_text(p), HasSubstr("\nNodes in order (left: at most 2 unavailable, right: at "
                                       "most 1 unavailable, none before 2026-11-21T12:00:00Z)\n"));
}

TEST(ProjectionText, BudgetsThatMayBlockAreToldWithTheirPods) {
  Projection p = recuts(1);
  p.budgets = {
      {.budget = "team/few", .disruptions_allowed = -1, .nodes = {"n1"}, .pods = {"a", "b", "c"}},
      {.budget = "team/many",
       .disruptions_allowed = 1,
       .nodes = {"n1"},
       .pods = {"a", "b", "c", "d"}}};
  EXPECT_THAT(print_text(p), AllOf(HasSubstr("  team/few  allows 0 disruptions: a, b, c on n1\n"),
                                   HasSubstr("  team/many  allows 1 disruption: 4 pods on n1\n")));
}

TEST(ProjectionText, CapacityIsToldWhereNodesGo) {
  Projection p;
  p.capacity = {{.resource = "nvidia.com/gpu", .before = 8, .lowest = 4, .after = 6},
                {.resource = "nvidia.com/mig-1g.10gb", .after = 7, .min_available = 3},
                {.resource = "nvidia.com/mig-2g.20gb", .before = 2, .retired = true}};
  EXPECT_THAT(print_text(p), Not(HasSubstr("Capacity")));
  p.nodes.push_back(recut("n1"));
  EXPECT_THAT(print_text(p),
              AllOf(HasSubstr("  nvidia.com/gpu                 8       4       6\n"),
                    HasSubstr("       0       0       7  at least 3 guarded\n"),
                    HasSubstr("       2       0       0  to be retired\n")));
}

TEST(ProjectionText, ObjectsLayoutsAndAnEarlyEndAreTold) {
  Projection p = recuts(1);
  p.objects = {{.object = "ConfigMap/x/a", .created = true, .lines = {"adds config b"}},
               {.object = "PriorityClass/c", .deleted = true},
               {.object = "ConfigMap/x/d"}};
  p.agent_switch = AgentSwitch{.message = "no ClusterPolicy names it"};
  p.stopped = "it did not finish within a day";
  LayoutSummary layout = unchanged("mixed", 1);
  layout.change = LayoutSummary::Change::kEdited;
  layout.takes_every_node = true;
  layout.selects_none = "there are no nodes";
  layout.lost = {"n7"};
  p.layouts.push_back(layout);
  EXPECT_THAT(
      print_text(p),
      AllOf(HasSubstr("\nConfigMap/x/a (created)\n  adds config b\n"),
            HasSubstr("\nPriorityClass/c (deleted)\n"), HasSubstr("\nConfigMap/x/d (changed)\n"),
            HasSubstr("\nNothing below happens yet\n    no ClusterPolicy names it\n"),
            HasSubstr("\nThe projection stopped early: it did not finish within a day.\n"),
            HasSubstr("\nMIGLayout/mixed (edited): 0 nodes selected: 0 match it now, 0 after\n"),
            HasSubstr("  nodeSelector: {} selects every GPU node of the cluster\n"),
            HasSubstr("  there are no nodes\n"),
            HasSubstr("  also selected, but another layout owns them: n7\n")));
  p.agent_switch->object = "ClusterPolicy/cluster-policy";
  p.agent_switch->line = "migManager: {}";
  EXPECT_THAT(print_text(p), HasSubstr("\nNothing below happens before this is set in "
                                       "ClusterPolicy/cluster-policy:\n    migManager: {}\n"));
}

TEST(UnderWayText, SaysWhatItDoesAndWhatIsNext) {
  using enum NodeChange::Outcome;
  const auto told = [](const std::string& phase, NodeChange::Outcome outcome,
                       bool was_out = false) {
    NodeChange node = in_hand(phase, outcome);
    node.was_out = was_out;
    node.in_hand->cause.message = "so it is";
    return tell_under_way(node, kBegin + std::chrono::hours(1));
  };
  EXPECT_EQ(told("Draining", kRepartitioned),
            "being drained since 12:00:00Z, then a → b, then back in service");
  EXPECT_EQ(told("Applying", kRepartitioned),
            "being repartitioned to b since 12:00:00Z, then verified, then back in service");
  EXPECT_EQ(told("Retrying", kRepartitioned, true),
            "waiting to try b again since 12:00:00Z, verified next; stays cordoned, as it was "
            "before");
  EXPECT_EQ(told("Verifying", kRepartitioned),
            "being verified since 12:00:00Z, back in service next");
  EXPECT_EQ(told("Verifying", kRepartitioned, true),
            "being verified since 12:00:00Z; stays cordoned, as it was before");
  EXPECT_EQ(told("RollingBack", kPutBack),
            "being rolled back to b since 12:00:00Z, then back in service unchanged: so it is");
  EXPECT_EQ(told("Waiting", kPutBack, true),
            "taken since 12:00:00Z, then given up unchanged: so it is; stays cordoned, as it was "
            "before");
  EXPECT_EQ(told("Failed", kUnfinished), "failed since 12:00:00Z, stays out of service: so it is");
  EXPECT_EQ(told("Cordoned", kUnfinished),
            "cordoned since 12:00:00Z, stays out of service: so it is");
  EXPECT_THAT(tell_under_way(in_hand("Draining", kUnfinished), kBegin + std::chrono::hours(24)),
              HasSubstr("since 2026-11-21T12:00:00Z"))
      << "of another day";
}

TEST(PolicyText, WindowsAndPoolsAreToldAsTheyStand) {
  PolicySummary policy;
  policy.name = "cluster";
  const auto windows = [&](DisruptionStatus status) {
    policy.windows = status;
    return print_text(policy);
  };
  EXPECT_THAT(windows({.open = true}), HasSubstr("  disruption windows: open\n"));
  EXPECT_THAT(windows({.open = true, .closes = kBegin}),
              HasSubstr("  disruption windows: open until 2026-11-21T12:00:00Z\n"));
  EXPECT_THAT(windows({.open = false, .next_opening = kBegin}),
              HasSubstr("  disruption windows: closed, open from 2026-11-21T12:00:00Z\n"));
  EXPECT_THAT(windows({.open = false}),
              HasSubstr("  disruption windows: closed, and they do not open again\n"));
  PoolSummary lab{.name = "lab", .removed = true, .sharing = "TimeSlicing × 4"};
  lab.enter = {"n1"};
  lab.leave = {"n2", "n3"};
  lab.edits = {{.key = "a/b", .effect = "", .from = {}, .to = "c", .nodes = {"n1"}},
               {.key = "k", .effect = "NoSchedule", .from = "v", .to = {}, .nodes = {"n2"}},
               {.key = "a/b", .effect = "", .from = "d", .to = "c", .nodes = {"n4"}}};
  policy.pools = {lab, {.name = "none"}};
  EXPECT_THAT(print_text(policy),
              AllOf(HasSubstr("  pool lab (removed): 1 enter, 2 leave, 0 stay; TimeSlicing × 4\n"
                              "    enter: n1\n    leave: n2, n3\n"
                              "    sets label a/b=c on n1\n"
                              "    takes taint k=v:NoSchedule from n2\n"
                              "    sets label a/b=c in place of d on n4\n"),
                    HasSubstr("  pool none (unchanged): selects no node that has GPUs\n")));
  EXPECT_EQ(nodes_edited(policy), 4U);
}

TEST(QueuesText, TenThatWouldStartAreNamedAndTheRestIsCounted) {
  QueueSummary queue{.name = "vision", .given = true};
  const auto with_starts = [&](int count) {
    queue.starts.clear();
    for (int i = 1; i <= count; ++i)
      queue.starts.push_back({.workload = fmt::format("Job/a/t{:02}", i), .verdict = {}});
    for (QueuedWorkload& start : queue.starts) start.verdict.pool = "training";
    QueueOutlook outlook;
    outlook.queues = {queue};
    return print_text(outlook);
  };
  EXPECT_THAT(with_starts(10),
              AllOf(HasSubstr("Job/a/t10 in pool training\n"), Not(HasSubstr("more"))));
  EXPECT_THAT(with_starts(12), HasSubstr("    Job/a/t10 in pool training\n    and 2 more\n"));
}

}  // namespace
}  // namespace berth
