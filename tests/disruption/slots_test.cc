// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/slots.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "controller/disruption/rollout_annotation.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

const Slot kSlot = {"uid-n1", "MIGLayout/small", 3, 2, *parse_time("2026-11-21T12:00:00Z")};

ConfigMap ledger_of(std::map<std::string, std::string> entries, const std::string& epoch) {
  ConfigMap map;
  map.meta.name = "berth-node-slots";
  map.meta.uid = "uid-ledger";
  map.meta.resource_version = "77";
  map.meta.annotations.set(names::kEpochAnnotation, epoch);
  for (const auto& [node, text] : entries) map.data[node] = text;
  return map;
}

TEST(Slots, AreReadAsTheyWereWritten) {
  Slot full = kSlot;
  full.berth_cordoned = false;
  full.lost = 2;
  full.recall = kSlot.since + std::chrono::minutes(1);
  for (const Slot& slot : {kSlot, full})
    EXPECT_THAT(decode_slot(encode_slot(slot)), Optional(slot));
  EXPECT_EQ(encode_slot(kSlot), R"({"uid":"uid-n1","holder":"MIGLayout/small","seq":3,"epoch":2,)"
                                R"("since":"2026-11-21T12:00:00.000000Z"})");
}

TEST(Slots, WhatIsNoSlotIsNotGuessedAt) {
  const auto text = [](const char* uid, const char* holder, const char* numbers, const char* since,
                       const char* more = "") {
    return fmt::format(R"({{"uid":"{}","holder":"{}",{},"since":"{}"{}}})", uid, holder, numbers,
                       since, more);
  };
  const char* good = R"("seq":1,"epoch":1)";
  const char* noon = "2026-11-21T12:00:00Z";
  ASSERT_TRUE(decode_slot(text("u", "h", good, noon)));
  struct Case {
    const char* sentence;
    std::string text;
  };
  for (const Case& c : {
           Case{"no JSON", "idle"},
           Case{"no uid", text("", "h", good, noon)},
           Case{"no holder", text("u", "", good, noon)},
           Case{"no time", text("u", "h", good, "noon")},
           Case{"a negative number", text("u", "h", R"("seq":-1,"epoch":1)", noon)},
           Case{"a negative epoch", text("u", "h", R"("seq":1,"epoch":-1)", noon)},
           Case{"a number past counting",
                text("u", "h", R"("seq":9007199254740992,"epoch":1)", noon)},
           Case{"a text for a number", text("u", "h", R"("seq":"1","epoch":1)", noon)},
           Case{"a recall that is no time", text("u", "h", good, noon, R"(,"recall":"soon")")},
       })
    EXPECT_FALSE(decode_slot(c.text)) << c.sentence;
}

TEST(Slots, AreALayoutsOrSomebodyElses) {
  Slot slot = kSlot;
  EXPECT_EQ(slot.layout(), "small");
  slot.holder = layout_holder("large");
  EXPECT_EQ(slot.layout(), "large");
  slot.holder = "GPUClusterPolicy/cluster";
  EXPECT_EQ(slot.layout(), std::nullopt);
}

TEST(Slots, ARecordIsLostOnceItHadReachedTheSlot) {
  Slot slot = kSlot;  // of the node's third claim
  RolloutRecord record;
  record.rollout.emplace().seq = 2;
  EXPECT_FALSE(is_record_lost(slot, record)) << "the cordon has not been seen yet";
  slot.berth_cordoned = true;
  EXPECT_TRUE(is_record_lost(slot, record));
  EXPECT_TRUE(is_record_lost(slot, RolloutRecord{}));
  record.rollout->seq = 3;
  EXPECT_FALSE(is_record_lost(slot, record));
}

TEST(Ledgers, KeepSlotsByNodeAndNameEntriesThatAreNone) {
  const ConfigMap map = ledger_of({{"n1", encode_slot(kSlot)}, {"n2", "odd"}}, "7");
  const SlotLedger ledger = read_ledger(&map);
  EXPECT_EQ(ledger.epoch, 7);
  ASSERT_NE(ledger.find("n1"), nullptr);
  EXPECT_EQ(*ledger.find("n1"), kSlot);
  EXPECT_EQ(ledger.find("n2"), nullptr);
  EXPECT_THAT(ledger.unreadable, ElementsAre("n2"));
  EXPECT_TRUE(read_ledger(static_cast<const ConfigMap*>(nullptr)).slots.empty());
}

TEST(Ledgers, AreFoundAmongOtherConfigMapsOfTheirNamespace) {
  PlannedCluster world;
  world.claim("n1", "small");
  ConfigMap other;
  other.meta.name = "somebodys";
  other.meta.namespace_ = world.settings.berth_namespace;
  other.data["n2"] = encode_slot(kSlot);
  world.add(other);
  const auto slots = [&] { return read_ledger(world.cluster, world.settings).slots.size(); };
  EXPECT_EQ(slots(), 1u);
  EXPECT_EQ(read_ledger(world.cluster, world.settings).find("n2"), nullptr);
  world.cluster.erase<ConfigMap>(world.settings.berth_namespace, "somebodys");
  EXPECT_EQ(slots(), 1u);
}

TEST(Ledgers, AreWrittenUnderTheVersionThatWasReadOrMade) {
  PlannedCluster world;
  const ConfigMap map = ledger_of({}, "7");
  const SlotLedger ledger = read_ledger(&map);
  const Write patch =
      write_slots(world.snapshot(), ledger, {{"n1", kSlot}, {"n2", std::nullopt}}, "claim");
  const ObjectRef object{"ConfigMap", "berth-system", "berth-node-slots", "uid-ledger"};
  EXPECT_EQ(patch.verb, Verb::kMergePatch);
  EXPECT_EQ(patch.object, object);
  EXPECT_EQ(patch.field_manager, names::kManagerMig);
  EXPECT_EQ(patch.reason, "claim");
  EXPECT_THAT(patch.body, AllOf(HasSubstr(R"("uid":"uid-ledger","resourceVersion":"77")"),
                                HasSubstr(R"("n1":"{)"), HasSubstr(R"(,"n2":null})")));
  const Write create = write_slots(world.snapshot(), SlotLedger{}, {{"n1", kSlot}}, "claim");
  EXPECT_EQ(create.verb, Verb::kCreate);
  EXPECT_EQ(create.object, (ObjectRef{"ConfigMap", "berth-system", "berth-node-slots", ""}));
  EXPECT_EQ(create.field_manager, names::kManagerMig);
  EXPECT_THAT(create.body, AllOf(HasSubstr(R"("gpu.berth.dev/epoch":"1")"), HasSubstr(R"("n1":")"),
                                 Not(HasSubstr("resourceVersion"))));
}

TEST(Epochs, AreAboveAllThatWasEverClaimed) {
  struct Case {
    const char* sentence;
    std::string annotation;
    std::int64_t slot, epoch;
  };
  for (const Case& c : {
           Case{"the annotation", "7", 2, 8},
           Case{"a claim that is ahead of it", "1", 5, 6},
           Case{"an annotation that was edited", "many", 2, 3},
           Case{"a negative one", "-4", 2, 3},
           Case{"one past counting", "9007199254740992", 2, 3},
           Case{"the last that can be read back", "9007199254740991", 2, 9007199254740991},
       }) {
    SCOPED_TRACE(c.sentence);
    Slot slot = kSlot;
    slot.epoch = c.slot;
    const ConfigMap map = ledger_of({{"n1", encode_slot(slot)}}, c.annotation);
    const EpochClaim claim = claim_epoch(&map, Settings());
    EXPECT_EQ(claim.epoch, c.epoch);
    EXPECT_EQ(claim.write.verb, Verb::kMergePatch);
    EXPECT_EQ(claim.write.object.uid, "uid-ledger");
    EXPECT_EQ(claim.write.field_manager, names::kManagerMig);
    EXPECT_EQ(claim.write.reason, fmt::format("begin epoch {}", c.epoch));
    EXPECT_THAT(claim.write.body,
                AllOf(HasSubstr(fmt::format(R"("gpu.berth.dev/epoch":"{}")", c.epoch)),
                      HasSubstr(R"("resourceVersion":"77")")));
  }
  const EpochClaim first = claim_epoch(nullptr, Settings());
  EXPECT_EQ(first.epoch, 1);
  EXPECT_EQ(first.write.verb, Verb::kCreate);
  EXPECT_EQ(first.write.object.str(), "ConfigMap/berth-system/berth-node-slots");
  EXPECT_EQ(first.write.field_manager, names::kManagerMig);
  EXPECT_EQ(first.write.reason, "start the ledger of unavailable nodes");
  EXPECT_THAT(first.write.body,
              AllOf(HasSubstr(R"("gpu.berth.dev/epoch":"1")"), HasSubstr(R"("data":{})")));
}

}  // namespace
}  // namespace berth::test
