// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/project.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "controller/reconcilers/reconcile.h"
#include "controller/mig/rollout_choice.h"
#include "controller/preview/json.h"
#include "controller/preview/what_if.h"
#include "tests/preview/cases.h"

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

  const Projection again = project(world.cluster(), golden.layouts, settings, world.now());
  EXPECT_FALSE(again.changes()) << print_json(again);
  ASSERT_EQ(again.layouts.size(), 1u);
  EXPECT_EQ(again.layouts[0].before.updated, 8);
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

  const Projection projection =
      project(golden.dump.cluster, golden.layouts, settings, golden.dump.taken_at);
  std::vector<std::string> taken;
  for (const NodeChange& change : projection.nodes) taken.push_back(change.node);
  ASSERT_GE(chosen.size(), 3u);
  ASSERT_EQ(taken.size(), 8u);
  EXPECT_EQ(std::vector<std::string>(taken.begin(), taken.begin() + 3),
            std::vector<std::string>(chosen.begin(), chosen.begin() + 3));
}

TEST(Project, EqualClustersGiveEqualPlans) {
  const GoldenCase golden = read_case("budget");
  auto plan = [&] {
    return print_json(
        project(golden.dump.cluster, golden.layouts, Settings(), golden.dump.taken_at));
  };
  EXPECT_EQ(plan(), plan());
}

TEST(Project, LeavesTheClusterItWasGivenAlone) {
  const GoldenCase golden = read_case("rollout");
  const Node before = *golden.dump.cluster.nodes().find("n1");
  static_cast<void>(project(golden.dump.cluster, golden.layouts, Settings(), golden.dump.taken_at));
  EXPECT_EQ(*golden.dump.cluster.nodes().find("n1"), before);
  EXPECT_EQ(golden.dump.cluster.mig_layouts().size(), 0u);
}

}  // namespace
}  // namespace berth
