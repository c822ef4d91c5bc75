// SPDX-License-Identifier: Apache-2.0
// Prometheus' samples take no node out of service, and return none, unless the node's own exporter
// shows the same.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "apis/base/reasons.h"
#include "controller/health/survey.h"
#include "tests/health/sick_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class Confirmed : public testing::Test {
 protected:
  Confirmed() {
    sick_.tell_by_prometheus();
    sick_.policy.spec.health.action = HealthAction::kDrain;
  }
  std::string condition() const {
    const auto cause = survey_health(sick_.snapshot(), sick_.policy).not_confirmed();
    return cause ? cause->reason + ": " + cause->message : "";
  }
  std::string findings() const { return sick_.record("n3") ? sick_.record("n3")->findings : ""; }

  SickCluster sick_{10};
};

TEST_F(Confirmed, WhatTheExporterDoesNotShowIsOnlyReported) {
  using Harm = std::function<void(SickCluster&, GpuSample&)>;
  const Harm harms[] = {
      [](SickCluster& sick, GpuSample& gpu) { gpu.xid = Rise{.value = 79, .at = sick.now}; },
      [](SickCluster& sick, GpuSample& gpu) {
        gpu.double_bit_errors = Rise{.value = 1, .at = sick.now};
      },
      [](SickCluster&, GpuSample& gpu) { gpu.remap_failed = true; },
      [](SickCluster& sick, GpuSample& gpu) { gpu.hot_at = sick.now; },
      [](SickCluster& sick, GpuSample& gpu) { gpu.seen = sick.now - 5min; }};
  for (const Harm& harm : harms) {
    SickCluster sick(10);
    sick.tell_by_prometheus();
    harm(sick, sick.gpu("n3", 1));
    const Plan plan = sick.run();
    ASSERT_TRUE(sick.record("n3"));
    EXPECT_EQ(sick.record("n3")->phase, HealthPhase::kReported) << sick.record("n3")->keys;
    EXPECT_FALSE(sick.is_out("n3")) << sick.record("n3")->keys;
    ASSERT_EQ(plan.events.size(), 1u);
    EXPECT_THAT(plan.events[0].note,
                HasSubstr("(not confirmed by the node's own exporter: it does not show that)"));
    // The exporter shows it as well.
    sick.agree("n3");
    sick.run();
    EXPECT_TRUE(sick.is_out("n3")) << sick.record("n3")->keys;
  }
}

TEST_F(Confirmed, TheExporterHasToShowTheSameFaultOfTheSameGpu) {
  sick_.xid("n3", 1, 79);
  sick_.own("n3", 1).xid = Rise{.value = 31, .at = sick_.now};
  sick_.own("n3", 2).xid = Rise{.value = 79};
  sick_.run();
  EXPECT_FALSE(sick_.is_out("n3"));
  sick_.own("n3", 1).xid = Rise{.value = 79};
  sick_.run();
  EXPECT_FALSE(sick_.is_out("n3")) << "its exporter has shown that for long";
  sick_.own("n3", 1).xid->at = sick_.now;
  sick_.run();
  EXPECT_TRUE(sick_.is_out("n3"));
}

TEST_F(Confirmed, AnExporterThatCannotBeAskedConfirmsNothing) {
  sick_.xid("n3", 1, 79);
  sick_.agree("n3");
  sick_.keep_silent("n3", "answers 503");
  sick_.run();
  EXPECT_FALSE(sick_.is_out("n3"));
  EXPECT_THAT(findings(), HasSubstr("XID 79"));
  EXPECT_THAT(findings(), HasSubstr("it can't be asked: answers 503"));
  EXPECT_THAT(condition(), testing::StartsWith("ExporterSilent: only reported, of node n3: GPU 1"));
}

TEST_F(Confirmed, WhatNoExporterMeasuresNeedsNone) {
  Node node = sick_.node("n3");
  node.gpu_conditions.set("AcceleratedHardwareReady", "NvidiaXID79Error");
  sick_.put(std::move(node));
  sick_.keep_silent("n3", "answers 503");
  sick_.run();
  EXPECT_TRUE(sick_.is_out("n3"));
}

// Claims about many nodes do not count as a failing pool.
TEST_F(Confirmed, ClaimsKeepNoOtherNodeInService) {
  for (const char* claimed : {"n1", "n2", "n4", "n5", "n6"}) sick_.xid(claimed, 0, 79);
  sick_.xid("n3", 1, 79);
  sick_.agree("n3");
  sick_.settles = false;
  sick_.run();
  EXPECT_TRUE(sick_.is_out("n3"));
  for (const char* claimed : {"n1", "n2", "n4", "n5", "n6"}) EXPECT_FALSE(sick_.is_out(claimed));
  EXPECT_THAT(condition(), HasSubstr("ExporterDisagrees: only reported, of node n1"));
  EXPECT_THAT(condition(), HasSubstr("; and of 4 other nodes"));
}

TEST_F(Confirmed, ClaimsKeepNoNodeOutOfService) {
  sick_.xid("n3", 1, 79);
  sick_.agree("n3");
  sick_.run();
  ASSERT_TRUE(sick_.is_out("n3"));
  // A pod claims another fault again and again. Once the node is in service, berth reports it
  // again.
  sick_.settles = false;
  for (const Time end = sick_.now + 16min; sick_.now < end && sick_.is_out("n3");
       sick_.now += 30s) {
    sick_.look();
    sick_.gpu("n3", 2).xid = Rise{.value = 94, .at = sick_.now};
    sick_.run();
    EXPECT_THAT(findings(), Not(HasSubstr("XID 94")));
  }
  EXPECT_FALSE(sick_.is_out("n3"));
}

TEST_F(Confirmed, AFaultThatCanNoLongerBeConfirmedKeepsItsNodeOut) {
  sick_.gpu("n3", 1).remap_failed = true;
  sick_.agree("n3");
  sick_.run();
  ASSERT_TRUE(sick_.is_out("n3"));
  sick_.keep_silent("n3", "answers 503");
  sick_.pass(1h);
  EXPECT_TRUE(sick_.is_out("n3"));
}

// A series about GPUs does not prove that they exist.
TEST_F(Confirmed, ANodeGoesBackWhenItsOwnExporterShowsItsGpus) {
  sick_.xid("n3", 1, 79);
  sick_.agree("n3");
  sick_.run();
  ASSERT_TRUE(sick_.is_out("n3"));
  sick_.keep_silent("n3", "can't be connected to");
  sick_.pass(1h);
  EXPECT_TRUE(sick_.is_out("n3")) << "whatever Prometheus tells";
  sick_.gpu("n3", 1).xid.reset();
  sick_.agree("n3");
  sick_.pass(1min);
  EXPECT_FALSE(sick_.is_out("n3"));
}

// An old claim is not new when it comes true.
TEST_F(Confirmed, ClaimsHideNoFaultThatTheExporterShows) {
  sick_.gpu("n3", 1).xid = Rise{.value = 79, .at = sick_.now - 1h};
  sick_.own("n3", 1).xid = Rise{.value = 79, .at = sick_.now};
  sick_.run();
  EXPECT_TRUE(sick_.is_out("n3"));
  EXPECT_EQ(sick_.record("n3")->keys, "FatalXid/1");
}

TEST_F(Confirmed, AClaimIsNotWhatAPersonAccepted) {
  sick_.xid("n3", 1, 79);
  sick_.agree("n3");
  sick_.run();
  sick_.gpu("n3", 2).xid = Rise{.value = 79, .at = sick_.now};  // claimed meanwhile
  Node node = sick_.node("n3");
  node.unschedulable.reset();
  sick_.put(std::move(node));
  sick_.run();
  EXPECT_EQ(sick_.record("n3")->keys, "FatalXid/1");
  sick_.agree("n3");  // now it is true
  sick_.run();
  EXPECT_TRUE(sick_.is_out("n3"));
}

}  // namespace
}  // namespace berth::test
