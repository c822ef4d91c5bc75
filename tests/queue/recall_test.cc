// SPDX-License-Identifier: Apache-2.0
// Gangs without a Job whose node is about to be removed: berth requeues them whole by a mark in the
// ledger, and pods that replace theirs wait.
#include "controller/queue/record/recall.h"

#include "apis/base/reasons.h"
#include "controller/queue/recall/stranded.h"
#include "tests/queue/recall_fixture.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

const Workload& find_gang(const ClusterState& cluster) {
  return *cluster.view<ClusterIndex>().facts().find(kGang);
}

TEST_F(RecallTest, OnceAllMayGoTheMarkIsWrittenAndThenAllAreEvicted) {
  start_gang();
  EXPECT_EQ(plan(kGang), Plan());
  give_notice("n1");
  EXPECT_THAT(due(), Contains(kGangDue)) << "also by a leader that finds it so";
  EXPECT_THAT(asked(), ElementsAre("g1")) << "the other goes anyway";
  EXPECT_THAT(done(kGang), IsEmpty());
  answer(true);
  const Plan marks_it = plan(kGang);
  ASSERT_THAT(marks_it.events, SizeIs(1));
  EXPECT_EQ(marks_it.events[0].reason, reasons::kGangTakenBack);
  EXPECT_THAT(marks_it.events[0].note, HasSubstr("node n1 is about to go"));
  take_ledger(marks_it);
  ASSERT_THAT(marks(), SizeIs(1));
  EXPECT_EQ(marks()[0].workload, kGang);
  EXPECT_EQ(marks()[0].since, now.time_since_epoch().count());
  EXPECT_THAT(done(kGang), ElementsAre("evict g0", "evict g1"));
}

// A later round of the gang may be on its way, and the mark replaces its ledger entry.
TEST_F(RecallTest, ALeaderThatIsBehindMarksNoGang) {
  cluster.hear_all<berth::Pod>("1");
  start_gang(), give_notice("n1"), answer(true);
  ConfigMap standing = *ledger();
  standing.meta.annotations.set(names::kHeardAnnotation, R"({"epoch":2,"pods":"2"})");
  add(standing);
  const Plan waits = plan(kGang);
  EXPECT_THAT(waits.objects, IsEmpty());
  EXPECT_TRUE(waits.requeue_after.has_value());
  cluster.hear_all<berth::Pod>("2");
  take_ledger(plan(kGang));
  EXPECT_THAT(marks(), SizeIs(1));
}

TEST_F(RecallTest, WhoeverComesInTheirPlaceWaitsUntilAllAreGone) {
  start_gang(), give_notice("n1"), take_back();
  cluster.erase<berth::Pod>("a", "g0");
  come("h0");
  now += 1s;
  const auto waits = [&] {
    return reconcile_release(snapshot(), kGang).objects.empty() &&
           reconcile_admissions(snapshot()).objects.empty();
  };
  EXPECT_TRUE(waits()) << "it would follow the one that is left";
  EXPECT_THAT(done(kGang), ElementsAre("evict g1"));
  berth::Pod leaving = *cluster.pods().find("a", "g1");
  leaving.meta.deletion_timestamp = now;
  add(leaving);
  EXPECT_TRUE(waits());
  EXPECT_THAT(done(kGang), IsEmpty());
  cluster.erase<berth::Pod>("a", "g1");
  EXPECT_TRUE(waits()) << "the gang is not complete";
  come("h1");
  decide();
  EXPECT_THAT(in_flight(), ElementsAre(kGang));
  const Plan lets_go = reconcile_release(snapshot(), kGang);
  ASSERT_THAT(lets_go.objects, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_THAT(body_of(lets_go, i).dump(), HasSubstr("n2")) << "the other node goes";
}

// The controller that gave the notice may be faster than berth.
TEST_F(RecallTest, APodThatIsBeingDeletedThereTakesTheOthersAlong) {
  start_gang();
  for (const char* name : {"g0", "g1"}) {
    berth::Pod leaving = *cluster.pods().find("a", name);
    leaving.meta.deletion_timestamp = now;
    if (leaving.meta.name == "g1") give_notice("n1");
    add(leaving);
    if (leaving.meta.name == "g0") {
      EXPECT_EQ(plan(kGang), Plan()) << "somebody deletes a member";
    }
  }
  take_back();
  EXPECT_THAT(marks(), SizeIs(1)) << "or the first that is made anew would follow the last";
  EXPECT_THAT(done(kGang), IsEmpty());
  cluster.erase<berth::Pod>("a", "g0");
  come("h0");
  EXPECT_TRUE(reconcile_release(snapshot(), kGang).objects.empty());
}

TEST_F(RecallTest, TheNextLeaderGoesOnWithWhatItFinds) {
  start_gang(), give_notice("n1"), take_back();
  add(node_of("n1", 8));  // the notice was withdrawn, and some pods may be gone already
  epoch = 4;
  EXPECT_THAT(done(kGang), IsEmpty()) << "the earlier one may be at it yet";
  begin();
  EXPECT_THAT(due(), Contains(kGangDue));
  EXPECT_THAT(done(kGang), ElementsAre("evict g0", "evict g1"));
}

TEST_F(RecallTest, TheMarksChangeMakesTheGangDue) {
  start_gang(), give_notice("n1");
  const ConfigMap before = *ledger();
  take_back();
  const ConfigMap after = *ledger();
  EXPECT_THAT(queue_keys_for(cluster, settings, &before, &after), Contains(kGangDue));
  EXPECT_THAT(queue_keys_for(cluster, settings, &after, &before), Contains(kGangDue));
  EXPECT_THAT(queue_keys_for(cluster, settings, &after, &after), Not(Contains(kGangDue)));
}

// Requests from before the mark may arrive after it.
TEST_F(RecallTest, TheMarkStandsForAMinuteAtLeastAndUntilAllAreGone) {
  start_gang(), give_notice("n1"), take_back();
  now += 1h;
  review();
  EXPECT_THAT(marks(), SizeIs(1));
  come_back("h0", "h1");
  review();
  EXPECT_THAT(in_flight(), ElementsAre(kGang));
  EXPECT_THAT(marks(), IsEmpty()) << "it is admitted again";

  start_gang();
  cluster.erase<berth::Pod>("a", "h0"), cluster.erase<berth::Pod>("a", "h1");
  add(node_of("n1", 8)), give_notice("n2"), take_back();
  come_back("h0", "h1");
  now += 59s;
  review();
  EXPECT_THAT(marks(), SizeIs(1));
  now += 1s;
  review();
  EXPECT_THAT(marks(), IsEmpty());
}

TEST_F(RecallTest, ItKeepsItsAge) {
  start_gang();
  const std::int64_t age = find_gang(cluster).standing.created;
  give_notice("n1"), give_notice("n2"), take_back();
  now += 1h;
  come_back("h0", "h1");
  review();
  EXPECT_THAT(marks(), SizeIs(1)) << "there is no room, and it waits";
  EXPECT_TRUE(find_gang(cluster).standing.pending);
  EXPECT_EQ(find_gang(cluster).standing.created, age);
}

TEST_F(RecallTest, AReleaseThatArrivesAfterTheMarkLetsNobodyFollow) {
  start_gang(), give_notice("n1");
  const berth::Pod late = member_of("late", "n2");
  take_back();
  come_back("h0", "h1");
  now += 1s;
  decide();
  ASSERT_THAT(in_flight(), ElementsAre(kGang));
  bind(late, "n2");
  EXPECT_TRUE(reconcile_release(snapshot(), kGang).objects.empty());
  EXPECT_THAT(done(kGang), ElementsAre("evict late"));
  cluster.erase<berth::Pod>("a", "late");
  EXPECT_THAT(reconcile_release(snapshot(), kGang).objects, SizeIs(2));
}

TEST_F(RecallTest, AnAdmissionThatHasGoneHalfIsWithdrawnWithTheMark) {
  begin(), come("h0"), come("h1"), decide();
  const auto entries = read_admissions(snapshot()).entries;
  ASSERT_THAT(entries, SizeIs(1));
  AdmissionFact record = entries.begin()->second.admission;
  record.uid = "h1", record.members.clear(), record.nodes = {"n1"};
  berth::Pod gone = *cluster.pods().find("a", "h1");
  gone.shape.edit()->scheduling_gates.clear();
  gone.meta.annotations.set(names::kAdmittedAnnotation, encode_admission(record));
  bind(gone, "n1");
  give_notice("n1");
  take_back();
  EXPECT_THAT(in_flight(), IsEmpty());
  EXPECT_THAT(marks(), SizeIs(1));
  EXPECT_THAT(done(kGang), ElementsAre("evict h1")) << "the other is behind its gate yet";
  EXPECT_TRUE(reconcile_release(snapshot(), kGang).objects.empty());
}

TEST_F(RecallTest, WhatNobodyWouldMakeAnewStays) {
  begin();
  bind(member_of("g0", "n1"), "n1"), bind(member_of("g1", "n2", ""), "n2");
  give_notice("n1");
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_THAT(done(kGang), IsEmpty());
  EXPECT_EQ(stranded(cluster, find_gang(cluster))->stays, "nobody would make pod g1 anew");
}

TEST_F(RecallTest, ABudgetKeepsItAndIsTold) {
  start_gang(), give_notice("n1");
  PodDisruptionBudget budget;
  budget.meta.namespace_ = "a";
  budget.meta.name = budget.meta.uid = "keep";
  budget.selector.emplace();
  budget.current_healthy = budget.desired_healthy = 2;
  add(budget);
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_EQ(stranded(cluster, find_gang(cluster))->stays,
            "PodDisruptionBudget keep keeps others of its pods");
  budget.desired_healthy = 1;
  add(budget);
  EXPECT_THAT(asked(), ElementsAre("g1"));
  answer(false);
  const Plan refused = plan(kGang);
  EXPECT_THAT(refused.objects, IsEmpty());
  ASSERT_THAT(refused.events, SizeIs(1));
  EXPECT_EQ(refused.events[0].reason, reasons::kGangStays);
  EXPECT_TRUE(refused.events[0].warning);
  EXPECT_THAT(refused.events[0].note, HasSubstr("g1 may not be evicted: budget keep allows none"));
  EXPECT_EQ(refused.requeue_after, 10s) << "it may be another answer then";
}

TEST_F(RecallTest, AGangOfOneAndWhatItsQueueWouldNotLetGoAgainStay) {
  start_gang();
  berth::Pod one = member_of("one", "n1");
  one.meta.labels.set(names::kPodGroupLabel, "solo");
  one.meta.annotations.set(names::kPodGroupSizeAnnotation, "1");
  bind(one, "n1"), give_notice("n1");
  EXPECT_EQ(plan("PodGroup/a/solo"), Plan());
  GPUQueue held = queue_of("vision", 16);
  held.spec.stop_policy = StopPolicy::kHold;
  add(held);
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_EQ(stranded(cluster, find_gang(cluster))->stays, "its queue would not let it go again");
}

TEST_F(RecallTest, WhatTheSchedulerWouldPutThereAgainStays) {
  begin();
  berth::Pod pod = member_of("g0", "");
  pod.shape.edit()->tolerations = {{.key = "", .op = "Exists", .value = "", .effect = ""}};
  bind(pod, "n1"), bind(member_of("g1", "n2"), "n2"), give_notice("n1");
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_EQ(stranded(cluster, find_gang(cluster))->stays, "pod g0 tolerates the taint");
}

TEST_F(RecallTest, MarksAreBounded) {
  begin();
  LedgerChanges many;
  for (std::size_t i = 0; i < kMostRecalls; ++i) {
    const RecallFact recall{.workload = "PodGroup/b/" + std::to_string(i),
                            .since = 1,
                            .at = now.time_since_epoch().count(),
                            .why = "other"};
    many[recall_key(std::to_string(i))] = encode_recall(recall);
  }
  Plan writes;
  Write write = write_admissions(snapshot(), read_admissions(snapshot()), many, "many");
  writes.add(write.object, write);
  take_ledger(writes);
  ASSERT_THAT(marks(), SizeIs(kMostRecalls));
  start_gang(), give_notice("n1");
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_EQ(plan(kGang).requeue_after, 10s);
  now += 5min;
  review();
  EXPECT_THAT(marks(), IsEmpty()) << "those gangs are gone";
  EXPECT_THAT(asked(), ElementsAre("g1"));
}

TEST_F(RecallTest, AMarkSaysWhatItSaid) {
  const RecallFact whole{.workload = kGang,
                         .since = 5,
                         .at = 7'000'000,
                         .age = 3,
                         .why = "node \"n1\" is gone",
                         .times = 2,
                         .until = 9'000'000,
                         .first = "u"};
  EXPECT_EQ(decode_recall(encode_recall(whole)), whole);
  const RecallFact least{.workload = kGang, .since = 5, .at = 7, .why = ""};
  EXPECT_EQ(decode_recall(encode_recall(least)), least);
  for (const char* none :
       {"", "[]", "{}", R"({"workload":"PodGroup/a/b"})", R"({"workload":"a","at":"yesterday"})",
        R"({"workload":"a","at":"2026-11-21T12:00:00Z","times":-1})"})
    EXPECT_EQ(decode_recall(none), std::nullopt) << none;
}

// With two marks for one gang, each would end what the other says.
TEST_F(RecallTest, WhatIsNoMarkGoes) {
  start_gang(), give_notice("n1"), take_back();
  ConfigMap edited = *ledger();
  edited.data["recall.other"] = encode_recall(marks()[0]);
  edited.data["recall.broken"] = "?";
  add(edited);
  EXPECT_THAT(read_admissions(snapshot()).unreadable,
              UnorderedElementsAre("recall.broken", "recall.other"));
  review();
  EXPECT_THAT(ledger()->data, SizeIs(1));
}

}  // namespace
}  // namespace berth::queue
