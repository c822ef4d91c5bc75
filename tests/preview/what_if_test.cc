// SPDX-License-Identifier: Apache-2.0
// What becomes of a pod that is evicted in a copy of the cluster: its controller makes it anew,
// where there is room, and its budget is kept account of.
#include "controller/preview/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace berth {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class WhatIfTest : public testing::Test {
 protected:
  WhatIfTest() {
    add<Node>(test::node("n1").a100_80(4).cordoned());
    add<Pod>(test::pod("web").gpu(4).on("n1").label("app", "web"));
    add(test::budget("web", "app", "web", 1));
  }
  template <class T>
  void add(T object) {
    cluster_.upsert(std::move(object), Time());
  }
  const Pod* web(const WhatIf& world) { return world.cluster().pods().find("team-a", "web"); }
  static WhatIf::Applied write(WhatIf& world, const Write& write) {
    Plan plan;
    plan.add(write.object, write);
    return world.apply(plan);
  }
  WhatIf::Applied evict(WhatIf& world) {
    return write(world, {.verb = Verb::kEvict, .object = ref_of(*web(world))});
  }
  int allowed(const WhatIf& world) {
    return world.cluster().pod_disruption_budgets().find("team-a", "web")->disruptions_allowed;
  }

  ClusterState cluster_;
  Settings settings_;
};

TEST_F(WhatIfTest, APodThatIsEvictedRunsWhereThereIsRoom) {
  add<Node>(test::node("n2").a100_80(4));
  WhatIf world(cluster_, settings_, Time());
  const WhatIf::Applied applied = evict(world);
  EXPECT_TRUE(applied.wrote);
  ASSERT_THAT(applied.pods, SizeIs(1));
  EXPECT_EQ(applied.pods[0].kind, PodEvent::Kind::kMoved);
  EXPECT_EQ(applied.pods[0].from, "n1");
  EXPECT_EQ(applied.pods[0].to, "n2");
  ASSERT_NE(web(world), nullptr);
  EXPECT_EQ(web(world)->node_name, "n2");
  EXPECT_EQ(web(world)->phase, PodPhase::kRunning);
  EXPECT_NE(web(world)->meta.uid, "uid-web") << "it is another one";
  EXPECT_EQ(allowed(world), 1);
}

TEST_F(WhatIfTest, WithoutRoomItWaitsUntilThereIsSome) {
  WhatIf world(cluster_, settings_, Time());
  const WhatIf::Applied evicted = evict(world);
  ASSERT_THAT(evicted.pods, SizeIs(1));
  EXPECT_EQ(evicted.pods[0].kind, PodEvent::Kind::kPending);
  EXPECT_THAT(evicted.pods[0].why, HasSubstr("0 of 1 nodes: 1 cordoned"));
  EXPECT_EQ(web(world)->phase, PodPhase::kPending);
  EXPECT_EQ(web(world)->node_name, "");
  EXPECT_EQ(allowed(world), 0);

  const WhatIf::Applied opened =
      write(world, {.verb = Verb::kJsonPatch,
                    .object = ref_of(*world.cluster().nodes().find("n1")),
                    .body = R"([{"op":"replace","path":"/spec/unschedulable","value":false}])"});
  ASSERT_THAT(opened.pods, SizeIs(1));
  EXPECT_EQ(opened.pods[0].kind, PodEvent::Kind::kPlaced);
  EXPECT_EQ(opened.pods[0].to, "n1");
  EXPECT_EQ(web(world)->phase, PodPhase::kRunning);
  EXPECT_EQ(web(world)->node_name, "n1");
  EXPECT_EQ(allowed(world), 1);
}

TEST_F(WhatIfTest, WithoutAControllerItIsGoneForGood) {
  add<Pod>(test::pod("web").gpu(4).on("n1").unmanaged());
  WhatIf world(cluster_, settings_, Time());
  const WhatIf::Applied applied = evict(world);
  ASSERT_THAT(applied.pods, SizeIs(1));
  EXPECT_EQ(applied.pods[0].kind, PodEvent::Kind::kNotRecreated);
  EXPECT_EQ(web(world), nullptr);
}

TEST_F(WhatIfTest, AnotherPodOfItsNameIsNotMeant) {
  WhatIf world(cluster_, settings_, Time());
  ObjectRef former = ref_of(*web(world));
  former.uid = "former";
  EXPECT_FALSE(write(world, {.verb = Verb::kEvict, .object = former}).wrote);
  EXPECT_EQ(web(world)->meta.uid, "uid-web");
}

}  // namespace
}  // namespace berth
