// SPDX-License-Identifier: Apache-2.0
// How long a workload that is not ready blocks its StrictFIFO queue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/queue/cycle/cycle.h"
#include "controller/queue/cycle/words.h"
#include "tests/queue/model.h"
#include "tests/queue/preemption_facts.h"

namespace berth::queue::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kMinute = 60'000'000;

class UnreadyHead : public ::testing::Test {
 protected:
  UnreadyHead() {
    facts_.add_node("n", 8);
    facts_.add_queue("q", 8).strict_fifo = true;
    facts_.add_waiting("behind", "q", 1).created = 10;
  }
  // A member of a gang of two.
  PodFact& add_member(const std::string& uid, std::int64_t created) {
    return facts_.pods.emplace_back(PodFact{.uid = uid,
                                            .workload = "PodGroup/ns/half",
                                            .queue = "q",
                                            .created = created,
                                            .group_size = 2,
                                            .requests = {{kGpu, 1}}});
  }
  std::string why(const std::string& workload, std::int64_t now) const {
    FactsIndex index;
    fill(facts_, index);
    Cycle cycle(index, PreemptionTerms{.now = now});
    cycle.run(1000);
    return describe(cycle.why(*index.find(workload)), index.catalog());
  }
  std::optional<std::int64_t> again(std::int64_t now) const {
    FactsIndex index;
    fill(facts_, index);
    Cycle cycle(index, PreemptionTerms{.now = now});
    cycle.run(1000);
    return cycle.again();
  }

  LittleCluster facts_;
};

TEST_F(UnreadyHead, HalfAGangIsPassedAMinuteAfterItsLastMemberCame) {
  add_member("m0", 5);
  EXPECT_THAT(decided(facts_, kMinute + 4), IsEmpty());
  EXPECT_EQ(again(kMinute + 4), kMinute + 5);
  EXPECT_EQ(why("behind", kMinute + 4), "PodGroup/ns/half is before it in a StrictFIFO queue");
  EXPECT_EQ(why("PodGroup/ns/half", kMinute + 4), "1 of 2 pods exist");
  EXPECT_THAT(decided(facts_, kMinute + 5), ElementsAre("behind"));
  EXPECT_EQ(why("PodGroup/ns/half", kMinute + 5),
            "1 of 2 pods exist; others of its StrictFIFO queue no longer wait for it");
}

TEST_F(UnreadyHead, ItsNextMemberIsNews) {
  add_member("m0", 5).group_size = 3;
  add_member("m1", kMinute).group_size = 3;
  EXPECT_THAT(decided(facts_, kMinute + 5), IsEmpty());
  EXPECT_THAT(decided(facts_, 2 * kMinute), ElementsAre("behind"));
}

TEST_F(UnreadyHead, WhoseMembersDisagreeIsPassedToo) {
  add_member("m0", 5), add_member("m1", 6).group_size = 3;
  EXPECT_THAT(decided(facts_, kMinute), IsEmpty());
  EXPECT_THAT(decided(facts_, kMinute + 6), ElementsAre("behind"));
}

TEST_F(UnreadyHead, OnceItIsWholeItIsTheHeadAgain) {
  add_member("m0", 5), add_member("m1", 6);
  EXPECT_THAT(decided(facts_, 5 * kMinute), ElementsAre("PodGroup/ns/half", "behind"));
}

// Its minute was over while the API server refused it.
TEST_F(UnreadyHead, WhoseReleaseIsRefusedIsPassedAtOnce) {
  JobFact& head = facts_.add_waiting("Job/ns/head", "q", 1);
  head.created = 1;
  facts_.ledger.push_back({.workload = head.workload,
                           .admission = {.uid = head.uid,
                                         .queue = "q",
                                         .cohort = "c",
                                         .pool = "training",
                                         .amounts = {{kGpu, 1}}},
                           .refused = "no",
                           .until = kMinute});
  EXPECT_THAT(decided(facts_, 20), ElementsAre("behind"));
}

TEST_F(UnreadyHead, AJobWhosePodsLeaveIsPassedOnceTheyHang) {
  JobFact& head = facts_.add_waiting("Job/ns/head", "q", 1);
  head.created = 1;
  facts_.pods.push_back({.uid = "old",
                         .workload = head.workload,
                         .requests = {{kGpu, 1}},
                         .state = PodState::kLeaving,
                         .hangs_from = kMinute,
                         .node = "n"});
  EXPECT_THAT(decided(facts_, kMinute - 1), IsEmpty());
  EXPECT_THAT(decided(facts_, kMinute), ElementsAre("behind"));
}

}  // namespace
}  // namespace berth::queue::test
