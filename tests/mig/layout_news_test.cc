// SPDX-License-Identifier: Apache-2.0
// The events that follow from the difference of two statuses of a layout, case by case.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/reasons.h"
#include "controller/mig/layout_events.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using namespace reasons;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// A status by its conditions and its nodes that are not up to date.
struct Says {
  const char* ready = "";    // the reason of Ready; for AllNodesUpdated it is "True"
  const char* going = "";    // of Reconciling
  const char* stalled = "";  // of Stalled
  std::vector<NodeDetail> nodes = {};
  std::int32_t updated = 0, in_progress = 0;
  std::int64_t generation = 1;
  const char* message = "so";
};

MIGLayoutStatus status(const Says& says) {
  MIGLayoutStatus out;
  const auto add = [&](const char* type, const char* value, const std::string& reason) {
    if (!reason.empty())
      out.conditions.push_back({type, value, reason, says.message, says.generation, {}});
  };
  add("Ready", std::string_view(says.ready) == kAllNodesUpdated ? "True" : "False", says.ready);
  add("Reconciling", "True", says.going);
  add("Stalled", "True", says.stalled);
  out.details = says.nodes;
  out.nodes.updated = says.updated;
  out.nodes.in_progress = says.in_progress;
  out.nodes.selected = 4;
  return out;
}

struct LayoutNews : ::testing::Test {
  std::vector<std::string> told(const Says& was, const Says& next) {
    MIGLayout of = layout("small");
    of.status = status(was);
    std::vector<std::string> out;
    for (const EventNote& event : layout_events(of, status(next), choice))
      out.push_back(
          fmt::format("{} {}: {}", event.warning ? "Warning" : "Normal", event.reason, event.note));
    return out;
  }
  void stands(const std::vector<std::pair<const char*, NodeBucket>>& nodes) {
    choice.nodes.clear();
    held.clear();
    held.reserve(nodes.size());
    for (const auto& [name, bucket] : nodes) {
      held.push_back(node(name));
      NodeStanding standing;
      standing.node = &held.back();
      standing.bucket = bucket;
      choice.nodes.push_back(standing);
    }
  }
  static NodeDetail waits(const char* name, const char* reason, const char* phase = "Waiting") {
    return {name, phase, reason, "it waits", {}};
  }
  std::vector<Node> held;
  RolloutChoice choice;
};

TEST_F(LayoutNews, ARolloutStartsOnceSomethingMovesThatDidNot) {
  const Says rolling{.going = kRollingOut, .nodes = {waits("n1", kMaxUnavailable)}};
  const auto started = Contains(StartsWith("Normal RolloutStarted: 4 of 4 nodes"));
  EXPECT_THAT(told({}, rolling), started);
  EXPECT_THAT(told(rolling, rolling), Not(started));
  const Says waiting{.going = kMaxUnavailable, .nodes = {waits("n1", kMaxUnavailable)}};
  EXPECT_THAT(told({}, waiting), Not(started)) << "nothing moves";
  EXPECT_THAT(told(waiting, rolling), started) << "nor had before";
  Says begun = waiting;
  begun.in_progress = 1;
  EXPECT_THAT(told(begun, rolling), Not(started)) << "it had";
  const Says done{.ready = kAllNodesUpdated};
  EXPECT_THAT(told(done, rolling), started);
  for (const char* reason : {kAllocatableMismatch, kAgentPending, kAgentFailed}) {
    const Says showing{.going = kRollingOut, .nodes = {waits("n1", reason)}};
    EXPECT_THAT(told(done, showing), Not(started)) << "it has its config: " << reason;
    const Says cutting{.going = kRollingOut, .nodes = {waits("n1", reason, "Applying")}};
    EXPECT_THAT(told(done, cutting), started) << "it is being cut: " << reason;
  }
}

TEST_F(LayoutNews, NodesThatAreDoneAreNamedInOrderAsFarAsTheyAreThere) {
  stands(
      {{"n1", NodeBucket::kUpdated}, {"n2", NodeBucket::kUpdated}, {"n3", NodeBucket::kPending}});
  const Says was{.going = kRollingOut,
                 .nodes = {waits("n2", kMaxUnavailable), waits("n1", kMaxUnavailable),
                           waits("n3", kMaxUnavailable), waits("n0", kMaxUnavailable),
                           waits("n9", kMaxUnavailable)}};
  EXPECT_THAT(told(was, {.going = kRollingOut, .updated = 2}),
              ElementsAre("Normal NodeUpdated: nodes n1, n2 updated, 2 of 4"));
  EXPECT_THAT(told({.going = kRollingOut, .nodes = {waits("n1", kAgentPending)}},
                   {.going = kRollingOut, .nodes = {waits("n3", kMaxUnavailable)}}),
              Not(Contains(StartsWith("Normal NodeUpdated"))))
      << "it had its config all along";
}

TEST_F(LayoutNews, WhatBlocksItIsToldForEachReasonAndAgainAfterAnEditWithOtherWords) {
  const auto stalled = [](const char* reason, const char* message, std::int64_t generation) {
    Says says{.ready = reason, .stalled = reason, .nodes = {waits("n1", reason)}};
    says.message = message;
    says.generation = generation;
    return says;
  };
  const Says now = stalled(kInvalidLayout, "so", 2);
  const char* news = "Warning RolloutBlocked: InvalidLayout: so";
  EXPECT_THAT(told({}, now), ElementsAre(news));
  EXPECT_THAT(told(stalled(kMigNotCapable, "so", 2), now), ElementsAre(news));
  EXPECT_THAT(told(stalled(kInvalidLayout, "else", 1), now), ElementsAre(news));
  EXPECT_THAT(told(stalled(kInvalidLayout, "else", 2), now), IsEmpty());
  EXPECT_THAT(told(stalled(kInvalidLayout, "so", 1), now), IsEmpty());
}

TEST_F(LayoutNews, WhatTimeOrTheOwnerEndsIsNoWarning) {
  EXPECT_THAT(told({}, {.ready = kPaused, .nodes = {waits("n1", kPaused)}}),
              ElementsAre("Normal RolloutBlocked: Paused: so"));
  EXPECT_THAT(told({}, {.going = kUnmanagedPod, .nodes = {waits("n1", kUnmanagedPod)}}),
              ElementsAre("Normal RolloutBlocked: UnmanagedPod: so"));
  EXPECT_THAT(told({}, {.ready = kDeleting, .going = kDeleting}),
              ElementsAre("Normal Deleting: so"));
  EXPECT_THAT(told({.ready = kDeleting}, {.ready = kDeleting, .going = kDeleting}), IsEmpty());
}

TEST_F(LayoutNews, AFailureIsToldOnceAndOnlyAsThat) {
  const NodeDetail failed = waits("n1", kNodeFailed, "Failed");
  const Says stops{.ready = kNodeFailed, .stalled = kNodeFailed, .nodes = {failed}};
  EXPECT_THAT(told({}, stops), ElementsAre("Warning NodeFailed: n1: it waits"));
  EXPECT_THAT(told(stops, stops), IsEmpty());
  const Says other{.ready = kInvalidSpec, .stalled = kInvalidSpec, .nodes = {failed}};
  EXPECT_THAT(told({}, other), ElementsAre("Warning NodeFailed: n1: it waits",
                                           "Warning RolloutBlocked: InvalidSpec: so"));
}

TEST_F(LayoutNews, ItsEndIsToldOnceWhereItHadNotEnded) {
  const Says done{.ready = kAllNodesUpdated};
  const auto finished = ElementsAre("Normal RolloutFinished: so");
  EXPECT_THAT(told({}, done), finished) << "of a layout that was right from the start";
  EXPECT_THAT(told(done, done), IsEmpty());
  EXPECT_THAT(told({.going = kRollingOut, .nodes = {waits("n1", kMaxUnavailable)}}, done),
              finished);
  const Says plugin{.going = kRollingOut, .nodes = {waits("n1", kAllocatableMismatch)}};
  EXPECT_THAT(told(plugin, done), IsEmpty()) << "a device plugin is back";
  const Says fault{.stalled = kAllocatableMismatch, .nodes = {waits("n1", kAllocatableMismatch)}};
  EXPECT_THAT(told(fault, done), finished) << "which had been told as a fault";
}

}  // namespace
}  // namespace berth::test
