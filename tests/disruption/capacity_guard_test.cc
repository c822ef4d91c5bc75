// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/capacity_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/reasons.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr char kGpu[] = "nvidia.com/gpu";
constexpr char kSmall[] = "nvidia.com/mig-1g.10gb";

// n1 and n2 offer four GPUs each, n3 seven slices and n4, which is cordoned, seven more.
struct CapacityGuardTest : ::testing::Test {
  CapacityGuardTest() {
    world.add(node("n1").allocatable(kGpu, 4).allocatable("cpu", 64));
    world.add(node("n2").allocatable(kGpu, 4).allocatable(kSmall, 0));
    world.add(node("n3").allocatable(kSmall, 7));
    world.add(node("n4").allocatable(kSmall, 7).cordoned());
  }
  CapacityGuard guard() {
    ledger = read_ledger(world.snapshot());
    snapshot.emplace(world.snapshot());
    return CapacityGuard(*snapshot, ledger, spec);
  }
  const Node& at(const char* name) { return *world.cluster.nodes().find(name); }
  std::string refusal(const CapacityGuard& guard, const char* name) {
    const auto refused = guard.refuse(at(name));
    return refused ? refused->reason + ": " + refused->message : "";
  }
  PlannedCluster world;
  CapacityGuardSpec spec;
  SlotLedger ledger;
  std::optional<Snapshot> snapshot;
};

TEST_F(CapacityGuardTest, CountsWhatNodesInServiceOfferOfNvidiasResources) {
  EXPECT_THAT(guard().remaining(), ElementsAre(Pair(kGpu, 8), Pair(kSmall, 7)));
  EXPECT_THAT(gpu_capacity(at("n2")), ElementsAre(Pair(kGpu, 4)));
  world.claim("n1", "small");
  EXPECT_THAT(guard().remaining(), ElementsAre(Pair(kGpu, 4), Pair(kSmall, 7)))
      << "a slot is as good as a cordon";
}

TEST_F(CapacityGuardTest, ANodeMayGoAsLongAsTheMinimumIsLeft) {
  spec.protect_last_provider = false;
  spec.min_available = {{kGpu, 4}};
  CapacityGuard four = guard();
  EXPECT_EQ(refusal(four, "n1"), "") << "exactly the minimum is left";
  EXPECT_EQ(refusal(four, "n3"), "") << "it offers none of it";
  four.take(at("n1"));
  EXPECT_THAT(refusal(four, "n2"),
              HasSubstr("CapacityGuard: nvidia.com/gpu would fall to 0 in service, below "
                        "spec.capacityGuard.minAvailable of 4"));
  spec.min_available = {{kGpu, 5}};
  EXPECT_THAT(refusal(guard(), "n1"), HasSubstr("would fall to 4 in service"));
}

TEST_F(CapacityGuardTest, ANodeThatOffersNothingAsItIsMayGo) {
  spec.min_available = {{kSmall, 100}};
  world.add(pod("p").requests(kSmall, 1).on("n4"));
  CapacityGuard all = guard();
  EXPECT_EQ(refusal(all, "n4"), "");
  all.take(at("n4"));
  EXPECT_THAT(all.remaining(), ElementsAre(Pair(kGpu, 8), Pair(kSmall, 7)));
}

TEST_F(CapacityGuardTest, TheLastProviderStaysWhilePodsHoldWhatItOffers) {
  EXPECT_EQ(refusal(guard(), "n3"), "") << "nobody holds it";
  world.add(pod("b").requests(kSmall, 1).on("n3")).add(pod("a").requests(kSmall, 1).on("n3"));
  EXPECT_THAT(refusal(guard(), "n3"),
              HasSubstr("LastProvider: no other node in service offers nvidia.com/mig-1g.10gb, and "
                        "2 pods hold it (team-a/a, …)"));
  EXPECT_EQ(refusal(guard(), "n1"), "") << "n2 offers GPUs too";
  spec.retire = {kSmall};
  EXPECT_EQ(refusal(guard(), "n3"), "");
  spec.retire.clear();
  spec.protect_last_provider = false;
  EXPECT_EQ(refusal(guard(), "n3"), "");
}

TEST_F(CapacityGuardTest, TheLastOfSeveralIsWhoIsLeftAfterTheOthersWereTaken) {
  world.add(pod("p").gpu(1).on("n1"));
  CapacityGuard one_by_one = guard();
  EXPECT_EQ(refusal(one_by_one, "n1"), "");
  one_by_one.take(at("n1"));
  EXPECT_THAT(refusal(one_by_one, "n2"), HasSubstr("1 pod holds it (team-a/p)"));
}

TEST_F(CapacityGuardTest, PodsThatLeaveAndTheAgentsOwnAreNoDependants) {
  world.add(pod("leaves").requests(kSmall, 1).on("n3").terminating());
  world.add(pod("agent").requests(kSmall, 1).on("n3").in("gpu-operator"));
  EXPECT_EQ(refusal(guard(), "n3"), "");
}

}  // namespace
}  // namespace berth::test
