// SPDX-License-Identifier: Apache-2.0
// Gangs without a Job in a queue that is drained: berth requeues them whole, and pods that replace
// theirs wait until the queue admits again.
#include "controller/queue/recall/drained.h"

#include "apis/base/reasons.h"
#include "tests/queue/recall_fixture.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class DrainedTest : public RecallTest {
 protected:
  void set_stop_policy(StopPolicy policy) {
    GPUQueue queue = queue_of("vision", 16);
    queue.spec.stop_policy = policy;
    add(queue);
  }
  std::optional<Drained> found() const {
    return drained(cluster, *cluster.view<ClusterIndex>().facts().find(kGang));
  }
};

TEST_F(DrainedTest, AGangGoesWholeByAMark) {
  start_gang();
  EXPECT_FALSE(found());
  EXPECT_THAT(due(), Not(Contains(kGangDue)));
  set_stop_policy(StopPolicy::kHold);
  EXPECT_EQ(plan(kGang), Plan()) << "what runs may go on";
  set_stop_policy(StopPolicy::kHoldAndDrain);
  EXPECT_THAT(due(), Contains(kGangDue)) << "also by a leader that finds it so";
  EXPECT_THAT(asked(), ElementsAre("g0", "g1"));
  EXPECT_THAT(done(kGang), IsEmpty()) << "nobody goes before all may";
  take_back();
  ASSERT_THAT(marks(), SizeIs(1));
  EXPECT_EQ(marks()[0].why, "queue vision is drained");
  EXPECT_THAT(done(kGang), ElementsAre("evict g0", "evict g1"));
}

TEST_F(DrainedTest, WhoeverComesInTheirPlaceWaitsUntilTheQueueAdmits) {
  start_gang();
  set_stop_policy(StopPolicy::kHoldAndDrain);
  take_back();
  cluster.erase<berth::Pod>("a", "g0");
  come("h0");
  EXPECT_TRUE(reconcile_release(snapshot(), kGang).objects.empty())
      << "it would follow the one that is left";
  EXPECT_THAT(done(kGang), ElementsAre("evict g1"));
  cluster.erase<berth::Pod>("a", "g1");
  come("h1");
  now += 1h;
  review();
  EXPECT_THAT(in_flight(), IsEmpty());
  EXPECT_THAT(done(kGang), IsEmpty()) << "what waits is not evicted";
  EXPECT_THAT(marks(), SizeIs(1)) << "it keeps the gang's age";
  set_stop_policy(StopPolicy::kNone);
  review();
  EXPECT_THAT(in_flight(), ElementsAre(kGang));
  EXPECT_THAT(marks(), IsEmpty());
  EXPECT_THAT(reconcile_release(snapshot(), kGang).objects, SizeIs(2));
}

// The old round must end in any case; else one half would run next to half of the next round.
TEST_F(DrainedTest, AQueueThatAdmitsAgainMeanwhileGetsTheGangBackWhole) {
  start_gang();
  set_stop_policy(StopPolicy::kHoldAndDrain);
  take_back();
  cluster.erase<berth::Pod>("a", "g0");
  come("h0");
  set_stop_policy(StopPolicy::kNone);
  EXPECT_THAT(done(kGang), ElementsAre("evict g1"));
  EXPECT_TRUE(reconcile_release(snapshot(), kGang).objects.empty());
}

TEST_F(DrainedTest, ThoseThatGoAnywayAreTakenBackToo) {
  start_gang();
  for (const char* name : {"g0", "g1"}) {
    berth::Pod leaving = *cluster.pods().find("a", name);
    leaving.meta.deletion_timestamp = now;
    add(leaving);
  }
  set_stop_policy(StopPolicy::kHoldAndDrain);
  EXPECT_THAT(asked(), IsEmpty());
  take_ledger(plan(kGang));
  EXPECT_THAT(marks(), SizeIs(1));
  cluster.erase<berth::Pod>("a", "g0");
  come("h0");
  EXPECT_TRUE(reconcile_release(snapshot(), kGang).objects.empty());
}

TEST_F(DrainedTest, AGangStaysOfWhichAPodWouldBeLostOrIsKept) {
  begin();
  bind(member_of("g0", "n1"), "n1"), bind(member_of("g1", "n2", ""), "n2");
  set_stop_policy(StopPolicy::kHoldAndDrain);
  EXPECT_EQ(found()->stays, "nobody would make pod g1 anew");
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_THAT(done(kGang), IsEmpty());
  EXPECT_EQ(plan(kGang).requeue_after, 1min);

  bind(member_of("g1", "n2"), "n2");
  EXPECT_EQ(found()->stays, "");
  PodDisruptionBudget budget;
  budget.meta.namespace_ = "a";
  budget.meta.name = budget.meta.uid = "keep";
  budget.selector.emplace();
  budget.current_healthy = 2, budget.desired_healthy = 1;
  add(budget);
  EXPECT_EQ(found()->stays, "PodDisruptionBudget keep keeps some of its pods");
  EXPECT_THAT(done(kGang), IsEmpty());
}

TEST_F(DrainedTest, AGangOfOneIsEvictedByItself) {
  begin();
  berth::Pod one = member_of("one", "n1");
  one.meta.labels.set(names::kPodGroupLabel, "solo");
  one.meta.annotations.set(names::kPodGroupSizeAnnotation, "1");
  bind(one, "n1");
  set_stop_policy(StopPolicy::kHoldAndDrain);
  EXPECT_THAT(done("PodGroup/a/solo"), ElementsAre("evict one"));
  EXPECT_THAT(marks(), IsEmpty());
}

}  // namespace
}  // namespace berth::queue
