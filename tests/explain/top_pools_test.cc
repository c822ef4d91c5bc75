// SPDX-License-Identifier: Apache-2.0
// The counts of `berth top pools`, and the answer for a pending pod about an unavailable node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/explain/explain_pod.h"
#include "controller/explain/top.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;

class TopPools : public ::testing::Test {
 protected:
  void add(const NodeBuilder& node) { cluster_.upsert<Node>(node, now_); }
  static NodeBuilder lab(const std::string& name) {
    return node(name).a100_80(4).label(names::kPoolLabel, "lab");
  }
  Snapshot snapshot() const {
    return {.cluster = cluster_, .answers = answers_, .settings = settings_, .now = now_};
  }

  Time now_ = *parse_time("2026-11-21T12:10:00Z");
  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
};

TEST_F(TopPools, WhatTakesNoPodsOffersNothing) {
  add(lab("n1")), add(lab("n2").cordoned()), add(lab("n3").not_ready());
  add(node("elsewhere").a100_80(4));
  EXPECT_THAT(top_pools(snapshot()).rows,
              ElementsAre(ElementsAre("lab", "nvidia.com/gpu", "3", "2", "4", "0", "0")));
}

TEST_F(TopPools, ANodeThatIsAwayIsToldAsThat) {
  add(lab("n1").not_ready());
  Pod waiting = pod("train").gpu(1).phase(PodPhase::kPending);
  cluster_.upsert(waiting, now_);
  EXPECT_THAT(explain_pod(snapshot(), *cluster_.pods().find("team-a", "train")).facts,
              Contains(Field(&Explanation::Fact::reason, reasons::kNodeNotReady)));
}

}  // namespace
}  // namespace berth::test
