// SPDX-License-Identifier: Apache-2.0
// The slots that the ledger frees, restores and records.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "controller/core/refused_write.h"
#include "controller/disruption/slots.h"
#include "controller/mig/reconcile.h"
#include "tests/mig/one_node.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct ReconcileSlots : OneNode {
  std::string slots() { return print(world_.plan("slots")); }
  Slot slot(std::int64_t seq = 1) { return {"uid-n1", "MIGLayout/small", seq, 1, world_.now}; }
  void put(const std::string& node, const std::string& text) {
    ConfigMap ledger = world_.ledger();
    ledger.data[node] = text;
    world_.add(ledger);
  }
  void put(const Slot& slot) { put("n1", encode_slot(slot)); }
  void clear() {
    ConfigMap ledger = world_.ledger();
    ledger.data.clear();
    world_.add(ledger);
  }
  // The API server's answers about the nodes that the plan looks up.
  void answer_looks(bool gone) {
    const Plan plan = world_.plan("slots");
    for (const ObjectSteps& object : plan.objects)
      for (const Step& step : object.steps)
        if (std::holds_alternative<Guard>(step))
          world_.answers.put(question(step), {.yes = gone, .at = world_.now});
  }
  void back(std::int64_t seq) {
    NodeRollout idle;
    idle.seq = seq;
    idle.since = world_.now;
    edit_node([&](Node& node) {
      node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(idle));
    });
  }
  void refuse() {
    const Step step = Write{.verb = Verb::kJsonPatch,
                            .object = ref_of(n1()),
                            .body = {},
                            .field_manager = names::kManagerMig};
    world_.answers.put(
        question(step),
        {.yes = false,
         .error = {.kind = ErrorKind::kInvalid, .message = "no", .where = {}, .http_code = 422},
         .against = {},
         .at = world_.now,
         .object = ref_of(n1()).str(),
         .field_manager = names::kManagerMig,
         .reason = "cordon"});
  }
};

TEST_F(ReconcileSlots, AnEntryIsFreedOnceItsNodeIsBack) {
  put(slot(3));
  EXPECT_EQ(slots(), "") << "its cordon may be in flight";
  back(2);
  EXPECT_EQ(slots(), "");
  back(3);
  EXPECT_THAT(slots(), AllOf(HasSubstr("slots: n1 (back)"), HasSubstr(R"("data":{"n1":null})")));
}

// The slot may belong to a node that the cache does not have yet.
TEST_F(ReconcileSlots, ThatItsNodeIsGoneIsTheApiServersToSay) {
  constexpr char kLook[] =
      "guard Node/n1: is the node that has the slot gone?\nrequeue in 15000ms\n";
  put(slot());
  const Node before = n1();
  edit_node([](Node& node) { node.meta.uid = "another"; });
  EXPECT_EQ(slots(), kLook);
  answer_looks(false);
  EXPECT_EQ(slots(), kLook) << "asked again";
  const Plan plan = world_.plan("slots");
  const auto& look = std::get<Guard>(plan.objects.at(0).steps.at(0));
  EXPECT_EQ(look.node.uid, "uid-n1");
  EXPECT_TRUE(look.yes_if_gone);
  EXPECT_EQ(look.refuse(before, {}), "the node is there, and the cache is behind");
  EXPECT_EQ(look.refuse(n1(), {}), std::nullopt);

  answer_looks(true);
  EXPECT_THAT(slots(),
              AllOf(HasSubstr("slots: n1 (another node now)"), HasSubstr(R"("data":{"n1":null})")));
  world_.cluster.erase<Node>("", "n1");
  EXPECT_THAT(slots(), HasSubstr("slots: n1 (gone)"));
  Slot other = slot();
  other.node_uid = "yet another";
  put(other);
  EXPECT_EQ(slots(), kLook) << "what was said was said of another node";
}

TEST_F(ReconcileSlots, ALookHoldsNoOtherEntryUp) {
  bring_to(RolloutPhase::kCordoned);
  put("n8", encode_slot({"uid-n8", "MIGLayout/small", 1, 1, world_.now}));
  put("n7", "junk");
  EXPECT_THAT(slots(), AllOf(HasSubstr("guard Node/n8: is the node that has the slot gone?"),
                             HasSubstr("slots: n1 (cordoned by berth), n7 (unreadable)"),
                             Not(HasSubstr(R"("n8")"))));
}

TEST_F(ReconcileSlots, OfflineWhatIsNotThereIsGone) {
  put("n8", encode_slot({"uid-n8", "MIGLayout/small", 1, 1, world_.now}));
  Snapshot offline = world_.snapshot();
  offline.offline = true;
  EXPECT_THAT(print(reconcile_slots(offline)), HasSubstr("slots: n8 (gone)"));
}

TEST_F(ReconcileSlots, AClaimOfANodeThatWasNeverTakenIsNotBack) {
  put(slot(0));
  EXPECT_EQ(slots(), "");
}

TEST_F(ReconcileSlots, OtherHoldersEntriesAreTheirs) {
  Slot theirs = slot();
  theirs.holder = "GPUClusterPolicy/cluster";
  put(theirs);
  back(5);
  EXPECT_EQ(slots(), "");
  bring_to(RolloutPhase::kCordoned);
  put(theirs);
  EXPECT_EQ(slots(), "") << "nor is anything noted in them";
  world_.cluster.erase<Node>("", "n1");
  answer_looks(true);
  EXPECT_THAT(slots(), HasSubstr("n1 (gone)"));
}

TEST_F(ReconcileSlots, WhatIsNoEntryIsTakenAway) {
  put("n7", "junk");
  EXPECT_THAT(slots(),
              AllOf(HasSubstr("slots: n7 (unreadable)"), HasSubstr(R"("data":{"n7":null})")));
}

TEST_F(ReconcileSlots, AMissingEntryIsPutBackFromTheNodesRecord) {
  bring_to(RolloutPhase::kApplying);
  edit_record([&](NodeRollout& r) {
    r.seq = 4;
    r.epoch = 2;
    r.taken = world_.now - 10min;
    r.berth_cordoned = false;
  });
  clear();
  EXPECT_THAT(slots(),
              AllOf(HasSubstr("slots: n1 (on its way)"),
                    HasSubstr(R"({\"uid\":\"uid-n1\",\"holder\":\"MIGLayout/small\",\"seq\":4,)"
                              R"(\"epoch\":2,\"since\":\"2026-11-21T11:50:00.000000Z\",)"
                              R"(\"berthCordoned\":false})")));
  edit_node([](Node& node) { node.meta.annotations.set(names::kRolloutAnnotation, "{junk"); });
  EXPECT_EQ(slots(), "") << "of a record that can't be read nothing is known";
  back(4);
  EXPECT_EQ(slots(), "") << "and of one that is back nothing is needed";
}

TEST_F(ReconcileSlots, AnEntryOfANodeBeforeIsReplacedByThatOfTheOneThatIsOnItsWay) {
  bring_to(RolloutPhase::kCordoned);
  Slot before = slot();
  before.node_uid = "before";
  put(before);
  EXPECT_THAT(slots(), StartsWith("guard Node/n1: is the node that has the slot gone?"));
  answer_looks(true);
  EXPECT_THAT(slots(), AllOf(HasSubstr("n1 (another node now), n1 (on its way)"),
                             HasSubstr(R"("n1":"{\"uid\":\"uid-n1\")")));
  world_.claim("n1", "small");
  Slot noted = slot();
  noted.berth_cordoned = true;
  put(noted);
  EXPECT_EQ(slots(), "");
}

TEST_F(ReconcileSlots, TheLedgerItselfIsPutBackWhereAnybodyCanBeAsked) {
  world_.cluster.erase<ConfigMap>(world_.settings.berth_namespace, names::kSlotsConfigMap);
  EXPECT_THAT(slots(), StartsWith("create ConfigMap/berth-system/berth-node-slots: start the "
                                  "ledger of unavailable nodes"));
  Snapshot offline = world_.snapshot();
  offline.offline = true;
  EXPECT_EQ(print(reconcile_slots(offline)), "");
}

TEST_F(ReconcileSlots, WhoseTheCordonIsIsNotedAndALostRecordCounted) {
  bring_to(RolloutPhase::kCordoned);
  EXPECT_THAT(slots(), HasSubstr("slots: n1 (cordoned by berth)"));
  edit_record([](NodeRollout& r) { r.berth_cordoned = false; });
  EXPECT_THAT(slots(), HasSubstr("slots: n1 (cordoned before)"));
  Slot noted = slot();
  noted.berth_cordoned = false;
  noted.lost = 1;
  noted.recall = world_.now;
  put(noted);
  EXPECT_THAT(slots(), AllOf(HasSubstr("slots: n1 (cordoned before)"), Not(HasSubstr("recall"))))
      << "the record is there again";
  noted.seq = 2;
  put(noted);
  EXPECT_EQ(slots(), "") << "an older one is none, and that is known";
  noted.recall.reset();
  put(noted);
  EXPECT_THAT(slots(),
              AllOf(HasSubstr("slots: n1 (its record is gone)"), HasSubstr(R"(\"lost\":2)"),
                    HasSubstr(R"(\"recall\":\"2026-11-21T12:00:30.000000Z\")")));
}

TEST_F(ReconcileSlots, AClaimThatCannotBeWrittenIsGivenUpWhenNothingIsInFlight) {
  world_.claim("n1", "small");
  EXPECT_EQ(slots(), "");
  refuse();
  EXPECT_EQ(slots(), "requeue in 60000ms\n");
  world_.now += 59s;
  refuse();
  EXPECT_EQ(slots(), "requeue in 1000ms\n");
  world_.now += 1s;
  EXPECT_THAT(slots(), HasSubstr("slots: n1 (can't be written)"));
  back(1);
  EXPECT_THAT(slots(), HasSubstr("slots: n1 (back)"));
  bring_to(RolloutPhase::kCordoned);
  edit_record([](NodeRollout& r) { r.seq = 0; });
  put(slot());
  refuse();
  EXPECT_EQ(slots(), "requeue in 60000ms\n");
  world_.now += 60s;
  refuse();
  EXPECT_EQ(slots(), "") << "its record says that it was taken, and there is nothing to wait for";
}

TEST_F(ReconcileSlots, ARefusalOfBeforeTheClaimSaysNothingOfIt) {
  refuse();
  world_.now += 1s;
  world_.claim("n1", "small");
  EXPECT_EQ(slots(), "");
}

}  // namespace
}  // namespace berth::test
