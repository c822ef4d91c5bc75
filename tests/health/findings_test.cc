// SPDX-License-Identifier: Apache-2.0
// The findings of a node, where samples disagree, end or belong to another machine, and their text.
#include "controller/health/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "controller/disruption/health_record.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/health/survey.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Findings : public testing::Test {
 protected:
  Findings() {
    samples_.interval = 30s;
    put(node("n1").a100_80(4));
  }
  void put(Node node) { cluster_.upsert(std::move(node), now_ - 1h); }
  GpuSample& gpu(const std::string& uuid, const std::string& index,
                 const std::string& instance = "") {
    GpuSample& made = samples_.nodes["n1"].emplace_back();
    made.uuid = uuid, made.index = index, made.instance = instance;
    made.seen = now_;
    return made;
  }
  NodeFindings find() const {
    const Snapshot snapshot{.cluster = cluster_,
                            .answers = answers_,
                            .settings = settings_,
                            .now = now_,
                            .samples = samples_};
    return find_trouble(snapshot, *cluster_.nodes().find("n1"), spec_);
  }
  std::string keys() const { return find().keys(); }

  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
  Samples samples_;
  HealthSpec spec_;
  Time now_{std::chrono::seconds(1'790'000'000)};
};

TEST_F(Findings, EachInstanceTellsOfItsGpuWhichIsOne) {
  gpu("a", "0", "7").xid = Rise{.value = 79, .at = now_ - 2min};
  gpu("a", "0", "8").xid = Rise{.value = 79, .at = now_ - 1min};
  gpu("a", "0", "9").xid = Rise{.value = 79, .at = now_ - 3min};
  const NodeFindings found = find();
  EXPECT_EQ(found.keys(), "FatalXid/0");
  EXPECT_EQ(found.last(), now_ - 1min) << "the last of them";
  EXPECT_EQ(found.gpus, 1);
  EXPECT_EQ(found.measured, 1);
}

TEST_F(Findings, OfInstancesTheOneSeenLastSpeaksForTheGpu) {
  gpu("a", "0", "7").seen = now_ - 10min;
  gpu("a", "0", "8");
  gpu("a", "0", "9").seen = now_ - 20min;
  gpu("b", "1");
  EXPECT_EQ(keys(), "") << "cut anew, it has other instances than before";
  gpu("c", "2").seen = now_ - 10min;
  EXPECT_EQ(keys(), "GpuMissing/2");
  EXPECT_THAT(find().text(), HasSubstr("GPU 2: not seen since 20"));
}

TEST_F(Findings, AGpuWithoutAnIndexIsToldByItsUuid) {
  gpu("GPU-a", "").remap_failed = true;
  EXPECT_EQ(keys(), "RemapFailed/GPU-a");
  gpu("", "1").remap_failed = true;
  gpu("", "2").seen = now_ - 1h;
  EXPECT_EQ(keys(), "RemapFailed/GPU-a,RemapFailed/1,GpuMissing/2");
}

TEST_F(Findings, WhatCameIsFoundUntilItHasNotComeAgainForLongEnough) {
  GpuSample& only = gpu("a", "0");
  for (const auto& [ago, found] : {std::pair{Duration(0s), true},
                                   {spec_.recover_after - 1ms, true},
                                   {spec_.recover_after, false},
                                   {spec_.recover_after + 1ms, false}}) {
    only.hot_at = now_ - ago;
    EXPECT_EQ(keys(), found ? "Hot/0" : "") << format_duration_short(ago);
  }
}

TEST_F(Findings, HeatThatHasNotLastedIsFoundOnlyWhereTheNodeIsKnownForIt) {
  gpu("a", "0").hot_since = now_ - 1min;
  const auto keys_with = [&](HealthPhase phase, const std::string& known) {
    Node node = *cluster_.nodes().find("n1");
    HealthRecord record{.phase = phase, .node_uid = node.meta.uid};
    record.keys = known;
    node.meta.annotations.set(names::kHealthAnnotation, encode_health(record));
    put(std::move(node));
    return keys();
  };
  EXPECT_EQ(keys(), "");
  EXPECT_EQ(keys_with(HealthPhase::kCordoned, "Hot/0"), "Hot/0");
  EXPECT_EQ(find().last(), now_);
  EXPECT_EQ(keys_with(HealthPhase::kOverruled, "FatalXid/1,Hot/0"), "Hot/0");
  EXPECT_EQ(keys_with(HealthPhase::kCordoned, "Hot/1"), "") << "another GPU";
  EXPECT_EQ(keys_with(HealthPhase::kReported, "Hot/0"), "");
  EXPECT_EQ(keys_with(HealthPhase::kRecovered, "Hot/0"), "");
}

// After a restart, berth has just begun to watch what the node offers.
TEST_F(Findings, MissedDevicesGoOnAtOnceWhereTheNodeIsKnownForThem) {
  Node made = node("n1").a100_80(4).allocatable("nvidia.com/gpu", 3);
  made.capacity.set("nvidia.com/gpu", Quantity::whole(4));
  HealthRecord record{.phase = HealthPhase::kCordoned, .node_uid = made.meta.uid};
  record.keys = "DevicesUnhealthy/nvidia.com/gpu";
  made.meta.annotations.set(names::kHealthAnnotation, encode_health(record));
  cluster_.upsert(std::move(made), now_);
  EXPECT_EQ(keys(), "DevicesUnhealthy/nvidia.com/gpu");
  EXPECT_FALSE(find().next_in);
}

TEST_F(Findings, WhatWasSeenBeforeTheMachineWasMadeIsAnothers) {
  gpu("a", "0").remap_failed = true;
  Node next = *cluster_.nodes().find("n1");
  next.meta.creation_timestamp = now_;
  put(next);
  EXPECT_EQ(keys(), "RemapFailed/0") << "seen in the same second";
  next.meta.creation_timestamp = now_ + 1s;
  put(next);
  EXPECT_EQ(keys(), "");
  EXPECT_EQ(find().gpus, 0);
}

TEST_F(Findings, FourAreNamedAndTheOthersCounted) {
  for (int i = 0; i < 4; ++i) gpu(std::to_string(i), std::to_string(i)).remap_failed = true;
  EXPECT_THAT(find().text(), HasSubstr("GPU 3: a row"));
  EXPECT_THAT(find().text(), testing::Not(HasSubstr("more")));
  for (int i = 4; i < 6; ++i) gpu(std::to_string(i), std::to_string(i)).remap_failed = true;
  EXPECT_THAT(find().text(), testing::Not(HasSubstr("GPU 4")));
  EXPECT_THAT(find().text(), HasSubstr("; and 2 more"));
  for (int i = 6; i < 70; ++i) gpu(std::to_string(i), std::to_string(i)).remap_failed = true;
  EXPECT_THAT(keys(), testing::EndsWith("RemapFailed/63")) << "an annotation has room for so many";
}

TEST_F(Findings, DevicesAreMissedOfReadyNodesThatNobodyCuts) {
  const auto offers = [&](std::int64_t has, std::int64_t offered, auto&& change) {
    Node made = node("n1").a100_80(4).allocatable("nvidia.com/gpu", offered);
    made.capacity.set("nvidia.com/gpu", Quantity::whole(has));
    made.capacity.set("cpu", Quantity::whole(64));
    made.allocatable.set("cpu", Quantity::whole(60));
    change(made);
    cluster_.erase<Node>("", "n1");
    put(std::move(made));
    return keys();
  };
  const auto as_it_is = [](Node&) {};
  EXPECT_EQ(offers(4, 3, as_it_is), "DevicesUnhealthy/nvidia.com/gpu");
  EXPECT_EQ(offers(4, 4, as_it_is), "");
  EXPECT_EQ(offers(4, 1, as_it_is), "DevicesUnhealthy/nvidia.com/gpu");
  EXPECT_EQ(offers(4, 0, as_it_is), "") << "the plugin is away";
  EXPECT_EQ(offers(4, 3, [](Node& made) { made.ready = false; }), "");
  EXPECT_EQ(offers(4, 3,
                   [&](Node& made) {
                     NodeRollout rollout{
                         .seq = 1, .node_uid = made.meta.uid, .phase = RolloutPhase::kApplying};
                     rollout.since = now_;
                     made.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
                   }),
            "")
      << "it is cut anew";
}

TEST_F(Findings, DevicesAreMissedAfterAMinuteToTheMoment) {
  Node made = node("n1").a100_80(4).allocatable("nvidia.com/gpu", 3);
  made.capacity.set("nvidia.com/gpu", Quantity::whole(4));
  cluster_.upsert(std::move(made), now_);
  now_ += 1min - 1s;
  EXPECT_EQ(keys(), "");
  EXPECT_EQ(find().next_in, Duration(1s));
  now_ += 1s;
  EXPECT_EQ(keys(), "DevicesUnhealthy/nvidia.com/gpu");
  EXPECT_FALSE(find().next_in);
}

TEST(FaultKinds, AreToldByWordsThatStandInRecords) {
  for (const auto& [kind, word] : {std::pair{FaultKind::kFatalXid, "FatalXid"},
                                   {FaultKind::kUnknownXid, "UnknownXid"},
                                   {FaultKind::kDoubleBitErrors, "DoubleBitErrors"},
                                   {FaultKind::kRemapFailed, "RemapFailed"},
                                   {FaultKind::kHot, "Hot"},
                                   {FaultKind::kLinkErrors, "LinkErrors"},
                                   {FaultKind::kPcieReplays, "PcieReplays"},
                                   {FaultKind::kThrottled, "Throttled"},
                                   {FaultKind::kGpuMissing, "GpuMissing"},
                                   {FaultKind::kDevicesUnhealthy, "DevicesUnhealthy"},
                                   {FaultKind::kNodeCondition, "NodeCondition"}})
    EXPECT_STREQ(to_string(kind), word);
}

}  // namespace
}  // namespace berth::test
