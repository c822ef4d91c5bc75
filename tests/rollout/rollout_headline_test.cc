// SPDX-License-Identifier: Apache-2.0
// The rollout that the README shows, end to end.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rollout/rollout.h"

namespace berth::test {
namespace {

using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The headline layout: two GPUs 3g+2g+2×1g and the others 7×1g.
constexpr char kMixedSizes[] =
    "devices: [{gpus: [0, 1], profiles: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}}, "
    "{profiles: {1g.10gb: 7}}]";

// Nodes × 4 A100-80GB, MIG off, two of them running GPU pods under ReplicaSets.
std::string cluster(int nodes) {
  return fmt::format(
      "nodes: [{{count: {}, labels: {{tier: mig}}}}]\nworkloads: [{}, {}]\n", nodes,
      "{name: web, replicas: 2, count: 1, nodeSelector: {kubernetes.io/hostname: n1}}",
      on_node("n2", "big", 4));
}

void apply(Rollout& world, const std::string& retire) {
  world.apply_layout("small", "rollout: {paused: true}, capacityGuard: {retire: [" + retire + "]}");
  world.edit_layout("small", std::string(kMixedSizes) + ", rollout: {paused: false}");
}

std::vector<std::string> cordons(const Rollout& world) {
  std::vector<std::string> nodes;
  for (const std::string& write : world.writes())
    if (auto at = write.find(": cordon for"); at != write.npos)
      nodes.push_back(write.substr(15, at - 15));
  return nodes;
}

TEST(Headline, EndsExactAndIdleNodesGoFirst) {
  Rollout world(cluster(5));
  apply(world, "nvidia.com/gpu");
  ASSERT_TRUE(world.run_until_ready("small"))
      << world.details("small") << world.condition("small", "Ready");
  EXPECT_THAT(world.condition("small", "Ready"), HasSubstr("AllNodesUpdated"));
  for (int i = 1; i <= 5; ++i) {
    const std::string name = fmt::format("n{}", i);
    EXPECT_FALSE(world.cordoned(name)) << name;
    EXPECT_EQ(world.phase(name), "Idle");
    EXPECT_EQ(world.offered(name, "mig-1g.10gb"), 18) << name;
    EXPECT_EQ(world.offered(name, "mig-3g.40gb"), 2) << name;
    EXPECT_LE(world.offered(name, "gpu"), 0) << name;
  }
  EXPECT_THAT(cordons(world), ElementsAre("n3", "n4", "n5", "n2", "n1"));

  // A second start finds nothing to do.
  ASSERT_TRUE(world.run_until([&] { return world.ledger().empty(); }, minutes(1)));
  world.run_for(minutes(1));
  world.forget_writes();
  world.act("crash: leader");
  world.run_for(minutes(1));
  EXPECT_THAT(world.writes(), ElementsAre(AllOf(HasSubstr("begin epoch 2"), HasSubstr("[done]"))));
}

TEST(Headline, WithoutRetireTheLastNodeIsRefusedWithTheLineToAdd) {
  Rollout world(cluster(3));
  apply(world, "");
  ASSERT_TRUE(world.run_until([&] {
    return world.counts("small") ==
           "selected 3 updated 2 inProgress 0 blocked 1 failed 0 pending 0";
  })) << world.counts("small");
  world.run_for(minutes(2));
  EXPECT_THAT(world.condition("small", "Reconciling"), HasSubstr("retire: [nvidia.com/gpu]"));
  EXPECT_THAT(world.details("small"), HasSubstr("Waiting LastProvider"));
}

// A layout's and its nodes' own: "NodeUpdated node n1 updated, 1 of 3".
TEST(Headline, IsToldInEventsOfTheLayout) {
  Rollout world("nodes: [{count: 3, labels: {tier: mig}}]");
  world.apply_layout("small", "rollout: {order: Name}");
  ASSERT_TRUE(world.run_until_ready("small"));
  world.run_for(minutes(1));
  const std::vector<std::string> whole = {
      "RolloutStarted 3 of 3 nodes are to be changed, at most 1 unavailable at once",
      "NodeUpdated node n1 updated, 1 of 3", "NodeUpdated node n2 updated, 2 of 3",
      "NodeUpdated node n3 updated, 3 of 3", "RolloutFinished 3 of 3 nodes are up to date"};
  EXPECT_EQ(world.told("MIGLayout/small"), whole);
  world.act("crash: leader");
  world.run_for(minutes(2));
  EXPECT_EQ(world.told("MIGLayout/small"), whole) << "the next leader tells nothing anew";
}

// Nodes go through all their steps; what people wait for changes twice.
TEST(Headline, TheStepsOfNodesTurnNoCondition) {
  Rollout world("nodes: [{count: 3, labels: {tier: mig}}]");
  std::vector<std::string> seen;
  world.run().simulation().store().observe([&](const sim::Change& change) {
    if (change.key.name != "small") return;
    std::string now;
    for (const Condition& c : world.layout("small").status.conditions)
      now += fmt::format("{}={} ", c.type, c.status);
    if (!now.empty() && (seen.empty() || seen.back() != now)) seen.push_back(now);
  });
  world.apply_layout("small");
  ASSERT_TRUE(world.run_until_ready("small"));
  EXPECT_THAT(seen, ElementsAre("Ready=False Reconciling=True ", "Ready=True "));
}

}  // namespace
}  // namespace berth::test
