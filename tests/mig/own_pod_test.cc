// SPDX-License-Identifier: Apache-2.0
// With scope AllPods a drain evicts berth's own pod too. It must then have another node to run on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/disruption/drain.h"
#include "controller/mig/rollout_choice.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using std::chrono::minutes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class OwnPod : public ::testing::Test {
 protected:
  OwnPod() {
    world_.settings.own_pod = "berth-7d9f4-x2x4z";
    layout_.spec.drain.scope = DrainScope::kAllPods;
    world_.add_nodes(1).add(layout_);
    config_ = world_.render_agent_config("small");
    world_.add(pod("berth-7d9f4-x2x4z").in("berth-system").requests("cpu", 1).on("n1"));
  }
  void add_room_elsewhere() { world_.add(node("spare").allocatable("cpu", 4)); }
  void cordon() {
    world_.claim("n1", "small");
    world_.add(on_its_way(*world_.cluster.nodes().find("n1"), layout_, config_,
                          RolloutPhase::kCordoned, world_.now));
  }

  MIGLayout layout_ = under_way(layout("small"));
  PlannedCluster world_;
  std::string config_;
};

TEST_F(OwnPod, ThatFitsNowhereElseBlocksItsNodeByName) {
  const RolloutChoice choice =
      decide_rollout(world_.snapshot(), *world_.cluster.mig_layouts().find("small"));
  EXPECT_THAT(choice.take, IsEmpty());
  ASSERT_EQ(choice.nodes.size(), 1u);
  EXPECT_EQ(choice.nodes[0].bucket, NodeBucket::kBlocked);
  EXPECT_EQ(choice.nodes[0].cause.reason, "OwnPod");
  EXPECT_THAT(choice.nodes[0].cause.message,
              HasSubstr("pod berth-system/berth-7d9f4-x2x4z is berth's own and fits on no other"));
}

TEST_F(OwnPod, IsNotEvictedFromACordonedNodeThatItCannotLeave) {
  layout_.spec.drain.on_timeout = OnTimeout::kForce;
  world_.add(layout_);
  cordon();
  EXPECT_THAT(print(world_.plan("node/n1")), Not(HasSubstr("evict Pod/berth-system")));
  world_.now += minutes(21);
  EXPECT_THAT(print(world_.plan("node/n1")),
              AllOf(HasSubstr("restore: drain timed out"), Not(HasSubstr("delete Pod"))));
}

TEST_F(OwnPod, LeavesLast) {
  add_room_elsewhere();
  world_.add(pod("web").gpu(1).on("n1"));
  cordon();
  EXPECT_THAT(print(world_.plan("node/n1")),
              AllOf(HasSubstr("evict Pod/team-a/web"), Not(HasSubstr("Pod/berth-system"))));
  world_.cluster.erase<Pod>("team-a", "web");
  EXPECT_THAT(print(world_.plan("node/n1")), HasSubstr("evict Pod/berth-system/berth-7d9f4-x2x4z"));
}

TEST_F(OwnPod, OfAnotherReplicaIsAPodLikeAny) {
  world_.settings.own_pod = "berth-7d9f4-other";
  cordon();
  EXPECT_THAT(print(world_.plan("node/n1")), HasSubstr("evict Pod/berth-system/berth-7d9f4-x2x4z"));
}

TEST_F(OwnPod, ANamesakeElsewhereIsNot) {
  EXPECT_TRUE(is_own_pod(pod("berth-7d9f4-x2x4z").in("berth-system"), world_.settings));
  EXPECT_FALSE(is_own_pod(pod("berth-7d9f4-x2x4z").in("team-a"), world_.settings));
}

}  // namespace
}  // namespace berth::test
