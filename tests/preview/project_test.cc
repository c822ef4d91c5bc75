// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/project.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "apis/base/names.h"
#include "controller/mig/config_label.h"
#include "controller/mig/rollout_choice.h"
#include "controller/preview/json.h"
#include "controller/preview/what_if.h"
#include "controller/reconcilers/reconcile.h"
#include "tests/preview/cases.h"
#include "tests/support/builders.h"

namespace berth {
namespace {

// The projection's own loop, with a look at the world after each step.
void run(WhatIf& world, const std::vector<MIGLayout>& layouts, const std::function<void()>& look) {
  for (MIGLayout layout : layouts) {
    layout.meta.uid = "uid-" + layout.meta.name;
    layout.meta.generation = 1;
    world.put(std::move(layout));
  }
  for (int steps = 0, idle = 0; steps < 20'000 && idle < 40; ++steps) {
    const std::optional<std::string> key = world.take_due();
    if (!key) {
      if (!world.pass_time()) return;
      ++idle;
      continue;
    }
    const Plan plan = reconcile(world.snapshot(), *key);
    world.requeue(*key, plan.requeue_after);
    const WhatIf::Applied applied = world.apply(plan);
    if (applied.wrote) idle = 0;
    for (const std::string& refusal : applied.refused) ADD_FAILURE() << refusal;
    look();
  }
}

TEST(Project, NothingIsLeftToDoAtItsEnd) {
  const GoldenCase golden = read_case("rollout");
  const Settings settings;
  WhatIf world(golden.dump.cluster, settings, golden.dump.taken_at);
  run(world, golden.layouts, [] {});

  const Projection again =
      project(world.cluster(), {golden.layouts, golden.policies}, settings, world.now());
  EXPECT_FALSE(again.changes()) << print_json(again);
  ASSERT_EQ(again.layouts.size(), 1u);
  EXPECT_EQ(again.layouts[0].before.updated, 8);
}

// The world as the projection of these manifests would leave it.
void run_policy(WhatIf& world, const GPUClusterPolicy& given) {
  GPUClusterPolicy policy = given;
  policy.meta.uid = "uid-policy";
  policy.meta.generation = 1;
  world.put(std::move(policy));
  run(world, {}, [] {});
}

TEST(Project, APolicyThatHasBeenAppliedPlansNothing) {
  const GoldenCase golden = read_case("policy-new");
  const Settings settings;
  WhatIf world(golden.dump.cluster, settings, golden.dump.taken_at);
  run_policy(world, golden.policies.at(0));
  EXPECT_EQ(world.cluster().nodes().find("n1")->taints,
            (std::vector<Taint>{{"nvidia.com/gpu", "present", "NoSchedule"}}));
  const Node& lab = *world.cluster().nodes().find("n6");
  EXPECT_EQ(lab.allocatable.get("nvidia.com/gpu"), Quantity::whole(16)) << "shared by four";
  EXPECT_EQ(lab.meta.labels.get("nvidia.com/gpu.product"), "NVIDIA-A100-SXM4-80GB-SHARED");

  const Projection again = project(world.cluster(), {{}, golden.policies}, settings, world.now());
  EXPECT_FALSE(again.changes()) << print_json(again);
  const Projection found = project(world.cluster(), {}, settings, world.now());
  ASSERT_TRUE(found.policy.has_value()) << "not given, but it takes part";
  EXPECT_FALSE(found.changes());
}

TEST(Project, WhileBerthIsStoppedNoPoolChangesAndThePlanSaysWhy) {
  const GoldenCase golden = read_case("policy-new");
  GPUClusterPolicy stopped = golden.policies.at(0);
  stopped.spec.operations = Operations::kStopped;
  const Projection plan =
      project(golden.dump.cluster, {{}, {stopped}}, Settings(), golden.dump.taken_at);
  ASSERT_TRUE(plan.policy.has_value());
  for (const PoolSummary& pool : plan.policy->pools)
    EXPECT_TRUE(pool.edits.empty()) << print_json(plan);
  EXPECT_EQ(plan.stopped, "berth is stopped; `berth resume` ends the stop");
}

TEST(Project, APoolThatGoesTakesBackWhatItPutThere) {
  const GoldenCase golden = read_case("policy-new");
  const Settings settings;
  WhatIf world(golden.dump.cluster, settings, golden.dump.taken_at);
  run_policy(world, golden.policies.at(0));
  GPUClusterPolicy fewer = golden.policies.at(0);
  std::erase_if(fewer.spec.pools, [](const PoolSpec& pool) { return pool.name != "inference"; });

  const Projection plan = project(world.cluster(), {{}, {fewer}}, settings, world.now());
  ASSERT_TRUE(plan.policy.has_value());
  const auto pool = std::ranges::find(plan.policy->pools, "training", &PoolSummary::name);
  ASSERT_NE(pool, plan.policy->pools.end());
  EXPECT_TRUE(pool->removed);
  EXPECT_EQ(pool->leave, (std::vector<std::string>{"n1", "n2"}));
  const bool taint_goes = std::ranges::any_of(pool->edits, [](const PoolSummary::Edit& edit) {
    return edit.key == "nvidia.com/gpu" && edit.effect == "NoSchedule" && edit.from == "present" &&
           !edit.to;
  });
  EXPECT_TRUE(taint_goes) << print_json(plan);
}

TEST(Project, WindowsAreOnTheClocksOfTheirZone) {
  const GoldenCase golden = read_case("policy-windows");
  GPUClusterPolicy policy = golden.policies.at(0);
  policy.spec.disruption.windows.at(0).time_zone = "Mars/Olympus";
  const Projection plan =
      project(golden.dump.cluster, {golden.layouts, {policy}}, Settings(), golden.dump.taken_at);
  ASSERT_TRUE(plan.policy && plan.policy->windows);
  EXPECT_FALSE(plan.policy->windows->open) << "a window that can't be read stays shut";
  EXPECT_TRUE(plan.nodes.empty());
}

TEST(Project, NeverMoreNodesOutThanTheLayoutAllows) {
  GoldenCase golden = read_case("rollout");
  golden.layouts[0].spec.rollout.max_unavailable = {3, false};
  const Settings settings;
  WhatIf world(golden.dump.cluster, settings, golden.dump.taken_at);
  int most = 0;
  run(world, golden.layouts, [&] {
    int out = 0;
    for (const auto& node : world.cluster().nodes()) out += node->cordoned() ? 1 : 0;
    most = std::max(most, out);
  });
  EXPECT_EQ(most, 3);
}

TEST(Project, TakesTheNodesInTheControllersOrder) {
  GoldenCase golden = read_case("rollout");
  golden.layouts[0].spec.rollout.max_unavailable = {3, false};
  golden.layouts[0].spec.rollout.initial_batch = 3;
  const Settings settings;
  WhatIf world(golden.dump.cluster, settings, golden.dump.taken_at);
  MIGLayout layout = golden.layouts[0];
  layout.meta.uid = "uid";
  world.put(layout);
  std::vector<std::string> chosen;
  for (const Node* node :
       decide_rollout(world.snapshot(), *world.cluster().mig_layouts().find(layout.meta.name))
           .order)
    chosen.push_back(node->meta.name);

  const Projection projection = project(golden.dump.cluster, {golden.layouts, golden.policies},
                                        settings, golden.dump.taken_at);
  std::vector<std::string> taken;
  for (const NodeChange& change : projection.nodes) taken.push_back(change.node);
  ASSERT_GE(chosen.size(), 3u);
  ASSERT_EQ(taken.size(), 8u);
  EXPECT_EQ(std::vector<std::string>(taken.begin(), taken.begin() + 3),
            std::vector<std::string>(chosen.begin(), chosen.begin() + 3));
}

// What the records say, in one text.
std::string records_of(const ClusterState& cluster) {
  std::string text;
  for (const auto& node : cluster.nodes()) {
    const Text* record = node->meta.annotations.find(names::kRolloutAnnotation);
    if (record != nullptr) text += record->str();
  }
  return text;
}

TEST(Project, FromEveryPointOfARolloutLeadsToTheSameEnd) {
  GoldenCase golden = read_case("rollout");
  golden.layouts[0].spec.rollout.max_unavailable = {2, false};
  const Settings settings;
  WhatIf world(golden.dump.cluster, settings, golden.dump.taken_at);
  std::string records;
  std::size_t with_nodes_in_hand = 0;
  run(world, golden.layouts, [&] {
    if (std::exchange(records, records_of(world.cluster())) == records_of(world.cluster())) return;
    const Projection plan = project(world.cluster(), {}, settings, world.now());
    with_nodes_in_hand += plan.under_way.empty() ? 0 : 1;
    for (const NodeChange& node : plan.under_way) {
      EXPECT_EQ(node.outcome, NodeChange::Outcome::kRepartitioned) << print_json(plan);
      EXPECT_EQ(node.from, names::kAllDisabled) << print_json(plan);
      EXPECT_FALSE(node.was_out) << print_json(plan);
      EXPECT_EQ(std::ranges::count(plan.nodes, node.node, &NodeChange::node), 0)
          << print_json(plan);
    }
    ASSERT_EQ(plan.layouts.size(), 1u);
    const NodeCounts& before = plan.layouts[0].before;
    EXPECT_EQ(before.updated + before.in_progress + before.pending, 8) << print_json(plan);
    EXPECT_EQ(plan.layouts[0].after.updated, 8) << print_json(plan);
  });
  EXPECT_GT(with_nodes_in_hand, 8u);
}

// From then on a node has a record, of which the slot that it is taken by is news.
TEST(Project, NodesThatWereCutBeforeAreToldWithTheirPodsAsAnyOthers) {
  GoldenCase golden = read_case("rollout");
  const Settings settings;
  WhatIf world(golden.dump.cluster, settings, golden.dump.taken_at);
  run(world, golden.layouts, [] {});
  ClusterState cluster = world.cluster();
  cluster.upsert<Pod>(test::pod("chat").requests("nvidia.com/mig-1g.10gb", 1).on("n3"),
                      world.now());
  MIGLayout other = golden.layouts.at(0);
  other.spec.devices = {DeviceLayout{std::nullopt, {{"7g.80gb", 1}}}};
  for (const char* slice : {"mig-1g.10gb", "mig-2g.20gb", "mig-3g.40gb"})
    other.spec.capacity_guard.retire.push_back(std::string("nvidia.com/") + slice);

  const Projection plan = project(cluster, {{other}, {}}, settings, world.now());
  EXPECT_EQ(plan.stopped, "");
  ASSERT_EQ(plan.nodes.size(), 8u) << print_json(plan);
  const auto n3 = std::ranges::find(plan.nodes, "n3", &NodeChange::node);
  ASSERT_NE(n3, plan.nodes.end());
  EXPECT_EQ(n3->outcome, NodeChange::Outcome::kRepartitioned);
  EXPECT_EQ(
      n3->from,
      base_config(world.cluster().nodes().find("n3")->meta.labels.get(names::kMigConfig).view()));
  ASSERT_EQ(n3->pods.size(), 1u) << print_json(plan);
  EXPECT_EQ(n3->pods[0].pod, "team-a/chat");
}

// Nobody is drained for what may not end.
TEST(Project, ANodeWhoseAgentIsAtWorkOnSomethingElseWaits) {
  const auto plan_with = [](const char* state) {
    ClusterState cluster;
    const Time now = *parse_time("2026-11-21T12:00:00Z");
    cluster.upsert<Node>(test::node("n1")
                             .a100_80(4)
                             .label("tier", "mig")
                             .label(names::kMigConfig, "all-1g.10gb")
                             .label(names::kMigConfigState, state),
                         now);
    return project(cluster, {{test::layout("small").retire("nvidia.com/gpu")}, {}}, Settings(),
                   now);
  };
  EXPECT_EQ(plan_with("success").nodes.size(), 1u);
  const Projection waits = plan_with("pending");
  EXPECT_THAT(waits.nodes, testing::IsEmpty()) << print_json(waits);
  EXPECT_THAT(print_json(waits), testing::HasSubstr("AgentPending"));
  EXPECT_EQ(waits.stopped, "");
}

TEST(Project, EqualClustersGiveEqualPlans) {
  const GoldenCase golden = read_case("budget");
  auto plan = [&] {
    return print_json(project(golden.dump.cluster, {golden.layouts, golden.policies}, Settings(),
                              golden.dump.taken_at));
  };
  EXPECT_EQ(plan(), plan());
}

TEST(Project, LeavesTheClusterItWasGivenAlone) {
  const GoldenCase golden = read_case("rollout");
  const Node before = *golden.dump.cluster.nodes().find("n1");
  static_cast<void>(project(golden.dump.cluster, {golden.layouts, golden.policies}, Settings(),
                            golden.dump.taken_at));
  EXPECT_EQ(*golden.dump.cluster.nodes().find("n1"), before);
  EXPECT_EQ(golden.dump.cluster.mig_layouts().size(), 0u);
}

}  // namespace
}  // namespace berth
