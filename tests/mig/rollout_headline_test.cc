// SPDX-License-Identifier: Apache-2.0
// The rollout that the README shows, end to end, and killed at every write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mig/rollout_world.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// 8 nodes × 4 A100-80GB, MIG off, two of them running GPU pods under a Deployment.
RolloutWorld headline() {
  RolloutWorld world;
  world.add_nodes(8);
  world.add(pod("web-a").gpu(2).on("n1")).add(pod("web-b").gpu(1).on("n1"));
  world.add(pod("web-c").gpu(4).on("n2"));
  world.add(layout("small").mixed_sizes().retire("nvidia.com/gpu"));
  return world;
}

std::vector<std::string> cordons(const RolloutWorld& world) {
  std::vector<std::string> nodes;
  for (const std::string& write : world.writes)
    if (auto at = write.find(": cordon for"); at != write.npos)
      nodes.push_back(write.substr(15, at - 15));
  return nodes;
}

void expect_converged(RolloutWorld& world, int nodes) {
  EXPECT_THAT(world.broken, IsEmpty());
  EXPECT_THAT(world.condition("small", "Ready"), HasSubstr("AllNodesUpdated"));
  for (int i = 1; i <= nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    EXPECT_FALSE(world.node(name).cordoned()) << name;
    EXPECT_EQ(world.phase(name), "Idle");
    EXPECT_EQ(world.offered(name, "nvidia.com/mig-1g.10gb"), 18) << name;
    EXPECT_EQ(world.offered(name, "nvidia.com/mig-3g.40gb"), 2) << name;
    EXPECT_EQ(world.offered(name, "nvidia.com/gpu"), 0) << name;
  }
  EXPECT_EQ(world.ledger(), "");
}

TEST(Rollout, TheHeadlineEndsExactAndIdleNodesGoFirst) {
  RolloutWorld world = headline();
  ASSERT_TRUE(world.run_until_ready("small"))
      << world.details("small") << world.condition("small", "Ready");
  expect_converged(world, 8);
  EXPECT_THAT(cordons(world), ElementsAre("n3", "n4", "n5", "n6", "n7", "n8", "n2", "n1"));
}

TEST(Rollout, ASecondStartWritesNothing) {
  RolloutWorld world = headline();
  ASSERT_TRUE(world.run_until_ready("small"));
  world.writes.clear();
  world.change_leader();
  world.run_for(std::chrono::minutes(10));
  EXPECT_THAT(world.writes, IsEmpty());
}

// Every kind of write stands in it: three nodes, one with pods.
RolloutWorld small_rollout() {
  RolloutWorld world;
  world.add_nodes(3);
  world.add(pod("web-a").gpu(2).on("n1")).add(pod("web-b").gpu(1).on("n1"));
  world.add(layout("small").mixed_sizes().retire("nvidia.com/gpu"));
  return world;
}

TEST(Rollout, KilledAtEveryWriteItEndsTheSame) {
  RolloutWorld calm = small_rollout();
  ASSERT_TRUE(calm.run_until_ready("small"));
  const int writes = static_cast<int>(calm.writes.size());
  EXPECT_GE(writes, 20);
  for (bool applied : {false, true})
    for (int n = 1; n <= writes; ++n) {
      SCOPED_TRACE("killed at write " + std::to_string(n) + (applied ? ", applied" : ", lost"));
      RolloutWorld world = small_rollout();
      world.plans_twice = false;
      world.crash_at_write(n, applied);
      ASSERT_TRUE(world.run_until_ready("small")) << world.details("small");
      expect_converged(world, 3);
      ASSERT_FALSE(HasFailure());
    }
}

TEST(Rollout, WithoutRetireTheLastNodeIsRefusedWithTheLineToAdd) {
  RolloutWorld world = headline();
  world.change_layout("small", [](MIGLayoutSpec& spec) { spec.capacity_guard.retire.clear(); });
  world.run_for(std::chrono::hours(1));
  EXPECT_EQ(world.counts("small"),
            "selected 8 updated 7 inProgress 0 blocked 1 failed 0 pending 0");
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("retire: [nvidia.com/gpu]"));
  EXPECT_THAT(world.details("small"), HasSubstr("Waiting LastProvider"));
}

}  // namespace
}  // namespace berth::test
