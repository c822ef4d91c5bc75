// SPDX-License-Identifier: Apache-2.0
// The line to write where a layout keeps itself from going on.
#include "controller/preview/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/reasons.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::IsEmpty;

class RefusalLines : public ::testing::Test {
 protected:
  RefusalLines() {
    for (const char* name : {"n1", "n2"})
      cluster_.upsert<Node>(node(name).a100_80(4).label("tier", "mig"), now_);
  }
  std::string line(const char* reason, const MIGLayout& layout) const {
    NodeStanding standing;
    standing.node = cluster_.nodes().find("n1");
    standing.cause.reason = reason;
    return line_for(snapshot(), layout, standing);
  }
  Snapshot snapshot() const {
    return {.cluster = cluster_, .answers = answers_, .settings = settings_, .now = now_};
  }

  Time now_ = *parse_time("2026-11-21T12:10:00Z");
  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
};

TEST_F(RefusalLines, AreOfTheReason) {
  const MIGLayout mixed = layout("mixed");
  EXPECT_EQ(line(reasons::kUnmanagedPod, mixed), "drain: {force: true}");
  EXPECT_EQ(line(reasons::kLocalStorage, mixed), "drain: {deleteEmptyDirData: true}");
  EXPECT_EQ(line(reasons::kJobRunning, mixed),
            "drain: {waitForCompletion: {podSelector: {matchExpressions: "
            "[{key: batch.kubernetes.io/job-name, operator: Exists}]}}}");
  EXPECT_EQ(line(reasons::kPaused, mixed), "rollout: {paused: false}");
  EXPECT_EQ(line(reasons::kNodeNotReady, mixed), "") << "nothing in the layout helps";
}

TEST_F(RefusalLines, AMinimumIsLoweredToWhatIsLeftWithoutTheNode) {
  const auto with = [](std::int64_t minimum) {
    MIGLayout made = layout("mixed");
    made.spec.capacity_guard.min_available = {{"nvidia.com/gpu", minimum}, {"nvidia.com/other", 1}};
    return made;
  };
  EXPECT_EQ(line(reasons::kCapacityGuard, with(5)),
            "capacityGuard: {minAvailable: {nvidia.com/gpu: 4}}");
  EXPECT_EQ(line(reasons::kCapacityGuard, with(4)), "") << "that is left";
}

TEST_F(RefusalLines, OfALayoutThatIsGoneNothingIsTold) {
  LayoutSummary gone;
  gone.name = "gone";
  gone.conditions = {{.type = "Stalled", .status = "True", .reason = "NodeFailed"}};
  EXPECT_THAT(refusals(snapshot(), {gone}), IsEmpty());
}

TEST_F(RefusalLines, WhatStallsALayoutIsToldOnce) {
  cluster_.upsert<MIGLayout>(layout("mixed"), now_);
  LayoutSummary summary;
  summary.name = "mixed";
  const std::size_t others = refusals(snapshot(), {summary}).size();
  summary.conditions = {{.type = "Stalled", .status = "False", .reason = "Contested"},
                        {.type = "Ready", .status = "True", .reason = "Contested"}};
  EXPECT_EQ(refusals(snapshot(), {summary}).size(), others);
  summary.conditions = {
      {.type = "Stalled", .status = "True", .reason = "Contested", .message = "by somebody"}};
  const std::vector<Refusal> told = refusals(snapshot(), {summary});
  ASSERT_EQ(told.size(), others + 1);
  EXPECT_EQ(told.back().cause, (Cause{"Contested", "by somebody"}));
  EXPECT_EQ(told.back().layout, "mixed");
  EXPECT_FALSE(told.back().spec);
  summary.conditions[0].reason = reasons::kInvalidSpec;
  EXPECT_TRUE(refusals(snapshot(), {summary}).back().spec);
}

}  // namespace
}  // namespace berth::test
