// SPDX-License-Identifier: Apache-2.0
// berth reads back its records on nodes and in the ledger exactly, and never trusts edited ones
// blindly.
#include "controller/disruption/rollout_annotation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/core/ledger_epoch.h"
#include "controller/disruption/rollouts.h"
#include "controller/disruption/slots.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

NodeRollout everything() {
  NodeRollout r;
  r.seq = 3;
  r.epoch = 7;
  r.node_uid = "u-n1";
  r.node = "n1";
  r.layout_uid = "u-1";
  r.layout = "small";
  r.config = "berth-small-12345678";
  r.previous = "all-disabled";
  r.phase = RolloutPhase::kApplying;
  r.since = *parse_time("2026-11-21T12:00:05.5Z");
  r.taken = *parse_time("2026-11-21T12:00:00Z");
  r.attempt = 1;
  r.not_before = *parse_time("2026-11-21T12:30:00Z");
  r.reasserts = 2;
  r.berth_cordoned = true;
  r.failed_config = "berth-small-87654321";
  r.why = "it said \"no\" \\ and stopped";
  r.cause = "WriteRefused";
  return r;
}

TEST(RolloutAnnotation, IsWrittenInAFixedOrderSincePatchesTestItsText) {
  EXPECT_EQ(encode_rollout(everything()),
            R"({"seq":3,"epoch":7,"uid":"u-n1","node":"n1","layoutUID":"u-1","layout":"small",)"
            R"("config":"berth-small-12345678","previous":"all-disabled","phase":"Applying",)"
            R"("since":"2026-11-21T12:00:05.500000Z","taken":"2026-11-21T12:00:00.000000Z",)"
            R"("attempt":1,"notBefore":"2026-11-21T12:30:00.000000Z","reasserts":2,)"
            R"("berthCordoned":true,"failedConfig":"berth-small-87654321",)"
            R"("why":"it said \"no\" \\ and stopped","cause":"WriteRefused"})");
}

TEST(RolloutAnnotation, IsReadBackAsItWasWritten) {
  EXPECT_EQ(decode_rollout(encode_rollout(everything())), everything());
  NodeRollout idle;
  idle.since = *parse_time("2026-11-21T12:00:00Z");
  EXPECT_EQ(decode_rollout(encode_rollout(idle)), idle);
}

TEST(RolloutAnnotation, WhatAPersonMadeOfItIsRefusedAndNeverGuessed) {
  const std::string good = R"({"seq":1,"phase":"Idle","since":"2026-11-21T12:00:00Z"})";
  ASSERT_TRUE(decode_rollout(good));
  for (const char* bad :
       {"", "{", "[]", "null", "{}", "{\"seq\":1}", "{\"seq\":1,\"phase\":\"Idle\"}",
        R"({"seq":"1","phase":"Idle","since":"2026-11-21T12:00:00Z"})",
        R"({"seq":-1,"phase":"Idle","since":"2026-11-21T12:00:00Z"})",
        R"({"seq":99999999999999999999,"phase":"Idle","since":"2026-11-21T12:00:00Z"})",
        R"({"seq":9223372036854775807,"phase":"Idle","since":"2026-11-21T12:00:00Z"})",
        R"({"seq":1,"attempt":9223372036854775807,"phase":"Idle","since":"2026-11-21T12:00:00Z"})",
        R"({"seq":1,"phase":"Asleep","since":"2026-11-21T12:00:00Z"})",
        R"({"seq":1,"phase":"Idle","since":"yesterday"})",
        R"({"seq":1,"phase":"Idle","since":"2026-11-21T12:00:00Z"}x)",
        R"({"seq":1,"phase":"Idle","since":"2026-11-21T12:00:00Z","nested":{}})",
        R"({"seq":1,"phase":"Idle","since":"2026-11-21T12:00:00Z","why":"\)",
        R"({"seq":1,"phase":"Idle","since":"2026-11-21T12:00:00Z","taken":"yesterday"})",
        R"({"seq":1,"phase":"Idle","since":"2026-11-21T12:00:00Z","notBefore":"tomorrow"})"})
    EXPECT_FALSE(decode_rollout(bad)) << bad;
}

TEST(RolloutAnnotation, CountersAreReadBackUpToWhatBerthCountsTo) {
  for (const char* counter : {"seq", "epoch", "attempt", "reasserts"})
    for (const auto& [value, is_read] : {std::pair{std::int64_t{-1}, false},
                                         {0, true},
                                         {kMaxCounter - 1, true},
                                         {kMaxCounter, false}})
      EXPECT_EQ(
          decode_rollout(fmt::format(R"({{"{}":{},"phase":"Idle","since":"2026-11-21T12:00:00Z"}})",
                                     counter, value))
              .has_value(),
          is_read)
          << counter << " " << value;
}

TEST(RolloutAnnotation, WhatNoJsonHoldsInAStringIsLeftOut) {
  NodeRollout r = everything();
  r.why = "one\ntwo\tthree";
  EXPECT_EQ(decode_rollout(encode_rollout(r))->why, "one two three");
}

// A node that is created as a copy of a live one has its annotations.
TEST(RolloutAnnotation, AnotherNodesIsNone) {
  const Node twin =
      node("n2").uid("u-n2").annotation(names::kRolloutAnnotation, encode_rollout(everything()));
  const RolloutRecord record = read_rollout(twin);
  EXPECT_FALSE(record.predecessor);
  EXPECT_TRUE(record.foreign);
  EXPECT_FALSE(record.rollout);
  EXPECT_FALSE(record.unreadable());
  EXPECT_TRUE(record.idle());
  EXPECT_EQ(record.seq(), 0);
  EXPECT_FALSE(read_rollout(node("n1").uid("u-n1").annotation(names::kRolloutAnnotation,
                                                              encode_rollout(everything())))
                   .foreign);
}

TEST(RolloutAnnotation, ThatOfADeletedNodeOfTheSameNameIsKnownAsSuch) {
  const RolloutRecord record = read_rollout(node("n1").uid("u-again").annotation(
      names::kRolloutAnnotation, encode_rollout(everything())));
  EXPECT_TRUE(record.foreign);
  EXPECT_FALSE(record.rollout);
  EXPECT_EQ(record.predecessor, everything());
}

TEST(RolloutAnnotation, OneThatDoesNotNameItsNodeIsStillRead) {
  NodeRollout old = everything();
  old.node_uid.clear();
  const Node node = test::node("n1").annotation(names::kRolloutAnnotation, encode_rollout(old));
  EXPECT_EQ(read_rollout(node).rollout, old);
  // In phase Idle, its berthCordoned meant a cordon that a user had removed.
  old.phase = RolloutPhase::kIdle;
  EXPECT_FALSE(decode_rollout(encode_rollout(old))->berth_cordoned);
  old.node_uid = "u-n1";
  EXPECT_TRUE(decode_rollout(encode_rollout(old))->berth_cordoned) << "out since a failure";
}

TEST(Rollouts, AreUnderWayUnlessTheirPhaseIsIdle) {
  NodeRollout r = everything();
  ClusterState cluster;
  const auto under_way = [&] {
    cluster.upsert<Node>(
        node("n1").uid("u-n1").annotation(names::kRolloutAnnotation, encode_rollout(r)), {});
    return !nodes_under_way(cluster).empty();
  };
  EXPECT_TRUE(under_way());
  r.layout = r.previous = "Idle";
  EXPECT_TRUE(under_way()) << "another word of that name";
  r.phase = RolloutPhase::kIdle;
  EXPECT_FALSE(under_way());
  r.layout = r.previous = "small";
  EXPECT_FALSE(under_way());
}

TEST(Slots, RememberWhoseTheCordonIs) {
  Slot slot{"u-1", "MIGLayout/small", 4, 2, *parse_time("2026-11-21T12:00:00Z")};
  slot.berth_cordoned = true;
  slot.lost = 2;
  slot.recall = *parse_time("2026-11-21T12:00:30Z");
  EXPECT_EQ(encode_slot(slot), R"({"uid":"u-1","holder":"MIGLayout/small","seq":4,"epoch":2,)"
                               R"("since":"2026-11-21T12:00:00.000000Z","berthCordoned":true,)"
                               R"("lost":2,"recall":"2026-11-21T12:00:30.000000Z"})");
  EXPECT_EQ(decode_slot(encode_slot(slot)), slot);
  EXPECT_FALSE(decode_slot(R"({"uid":"u","holder":"h","since":"2026-11-21T12:00:00Z","lost":-1})"));
  EXPECT_FALSE(
      decode_slot(R"({"uid":"u","holder":"h","since":"2026-11-21T12:00:00Z","recall":"soon"})"));
}

TEST(Slots, AreReadBackAndJunkIsSetApart) {
  const Slot slot{"u-1", "MIGLayout/small", 4, 2, *parse_time("2026-11-21T12:00:00Z")};
  EXPECT_EQ(encode_slot(slot), R"({"uid":"u-1","holder":"MIGLayout/small","seq":4,"epoch":2,)"
                               R"("since":"2026-11-21T12:00:00.000000Z"})");
  ConfigMap map;
  map.meta.annotations.set(names::kEpochAnnotation, "9");
  map.data = {{"n1", encode_slot(slot)}, {"n2", "mine"}, {"n3", "{}"}};
  const SlotLedger ledger = read_ledger(&map);
  EXPECT_EQ(ledger.epoch, 9);
  ASSERT_NE(ledger.find("n1"), nullptr);
  EXPECT_EQ(*ledger.find("n1"), slot);
  EXPECT_THAT(ledger.unreadable, ::testing::ElementsAre("n2", "n3"));
}

TEST(Slots, EachLeaderRaisesTheEpochOverTheVersionItRead) {
  Settings settings;
  EXPECT_EQ(claim_epoch(nullptr, settings).epoch, 1);
  EXPECT_EQ(claim_epoch(nullptr, settings).write.verb, Verb::kCreate);
  ConfigMap map;
  map.meta.uid = "u";
  map.meta.resource_version = "41";
  for (const auto& [standing, next] :
       {std::pair{"6", 7}, {"junk", 1}, {"-3", 1}, {"9223372036854775807", 1}}) {
    map.meta.annotations.set(names::kEpochAnnotation, standing);
    const EpochClaim claim = claim_epoch(&map, settings);
    EXPECT_EQ(claim.epoch, next) << standing;
    EXPECT_THAT(claim.write.body, ::testing::HasSubstr(R"("resourceVersion":"41")"));
  }
  // An edited annotation must not make a former leader's claims look like a later one's.
  map.data["n1"] = encode_slot({"u-1", "MIGLayout/small", 4, 12, {}});
  EXPECT_EQ(claim_epoch(&map, settings).epoch, 13);
}

TEST(Inventory, IsTakenFromLabelsThatTellWholeGpusElseFromTheAnnotation) {
  const Node off = node("n").a100_80(4);
  EXPECT_EQ(inventory_of(off), (Inventory{"NVIDIA-A100-SXM4-80GB", 4, 81920}));
  // Under `single` the labels show MIG devices once MIG is on.
  const Node single = node("n")
                          .a100_80(28)
                          .label(names::kGpuProduct, "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb")
                          .annotation(names::kInventoryAnnotation,
                                      R"({"product":"NVIDIA-A100-SXM4-80GB","count":4})");
  EXPECT_EQ(inventory_of(single), (Inventory{"NVIDIA-A100-SXM4-80GB", 4, std::nullopt}));
  EXPECT_EQ(inventory_to_record(single), std::nullopt);
  const Node shared =
      node("n").a100_80(4).label(names::kGpuProduct, "NVIDIA-A100-SXM4-80GB-SHARED");
  EXPECT_EQ(inventory_of(shared)->product, "NVIDIA-A100-SXM4-80GB");
  for (const char* count : {"0", "-4", "x", "", "99999999999999999999", "1000000"}) {
    const Node odd = node("n").a100_80(4).label(names::kGpuCount, count);
    EXPECT_EQ(inventory_of(odd), std::nullopt) << count;
  }
}

TEST(MigConfigLabel, EachWriteDiffersFromWhatStands) {
  EXPECT_EQ(next_label("berth-a-12345678", "all-disabled"), "berth-a-12345678");
  EXPECT_EQ(next_label("berth-a-12345678", ""), "berth-a-12345678");
  EXPECT_EQ(next_label("berth-a-12345678", "berth-a-12345678"), "berth-a-12345678-r1");
  EXPECT_EQ(next_label("berth-a-12345678", "berth-a-12345678-r3"), "berth-a-12345678");
  EXPECT_TRUE(names_config("berth-a-12345678-r2", "berth-a-12345678"));
  EXPECT_TRUE(names_config("berth-a-12345678-r3", "berth-a-12345678")) << "the last";
  EXPECT_FALSE(names_config("berth-a-12345678-r4", "berth-a-12345678"));
  EXPECT_FALSE(names_config("berth-a-12345678-r9", "berth-a-12345678"));
  const std::string longest(60, 'x'), longer(61, 'x');
  EXPECT_EQ(next_label(longest, longest), longest + "-r1") << "a label has 63 characters";
  EXPECT_EQ(next_label(longer, longer), std::nullopt);
  EXPECT_EQ(next_label(longer, "other"), longer);
  EXPECT_EQ(base_config("all-disabled-r1"), "all-disabled");
  EXPECT_EQ(base_config("my-r1"), "my-r1") << "other people's names are left alone";
}

}  // namespace
}  // namespace berth::test
