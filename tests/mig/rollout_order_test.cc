// SPDX-License-Identifier: Apache-2.0
// Which node is first: the one whose drain disturbs least.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/mig/rollout_choice.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;

class Order : public ::testing::Test {
 protected:
  Order() {
    world_.add_nodes(4);
    world_.add(layout("small").retire("nvidia.com/gpu"));
  }
  std::vector<std::string> order() {
    std::vector<std::string> names;
    const MIGLayout& small = *world_.cluster.mig_layouts().find("small");
    for (const Node* node : decide_rollout(world_.snapshot(), small).order)
      names.push_back(node->meta.name);
    return names;
  }
  PlannedCluster world_;
};

TEST_F(Order, NodesWithoutPodsGoFirstByName) {
  world_.add(pod("web").gpu(1).on("n1"));
  EXPECT_THAT(order(), ElementsAre("n2", "n3", "n4", "n1"));
}

TEST_F(Order, ThenByThePriorityOfThePods) {
  world_.add(pod("a").gpu(1).on("n1").priority(1000));
  world_.add(pod("b").gpu(1).on("n2").priority(10)).add(pod("c").gpu(1).on("n2").priority(-5));
  world_.add(pod("d").gpu(1).on("n3").priority(-10));
  EXPECT_THAT(order(), ElementsAre("n4", "n3", "n2", "n1"));
}

TEST_F(Order, OneMemberCostsTheWholeGang) {
  for (int i = 0; i < 4; ++i)
    world_.add(pod("gang" + std::to_string(i))
                   .gpu(1)
                   .on(i < 3 ? "n4" : "n1")
                   .label(names::kPodGroupLabel, "g"));
  world_.add(pod("a").gpu(1).on("n2")).add(pod("b").gpu(1).on("n2")).add(pod("c").gpu(1).on("n2"));
  EXPECT_THAT(order(), ElementsAre("n3", "n2", "n1", "n4"));
}

TEST_F(Order, ThenByTheWorkLostSinceTheLastCheckpoint) {
  const Time start = world_.now - hours(10);
  world_.add(pod("long").gpu(1).on("n1").started(start));
  world_.add(pod("saved").gpu(1).on("n2").started(start).annotation(
      names::kLastCheckpointAnnotation, format_time(world_.now - hours(1))));
  world_.add(pod("wide").gpu(4).on("n3").started(start));
  EXPECT_THAT(order(), ElementsAre("n4", "n2", "n1", "n3"));
}

TEST_F(Order, ThenByPodsThatFitNowhereElse) {
  world_.add(pod("big").gpu(4).on("n1")).add(pod("fits").gpu(1).on("n2"));
  world_.add(pod("x").gpu(2).on("n3")).add(pod("y").gpu(2).on("n4"));
  EXPECT_THAT(order(), ElementsAre("n2", "n3", "n4", "n1"));
}

TEST_F(Order, OrNamesAlone) {
  world_.add(layout("small").with([](MIGLayoutSpec& s) { s.rollout.order = RolloutOrder::kName; }));
  world_.add(pod("web").gpu(1).on("n1"));
  EXPECT_THAT(order(), ElementsAre("n1", "n2", "n3", "n4"));
}

TEST_F(Order, ACheckpointThatIsNoTimeIsNoCheckpoint) {
  world_.add(pod("a")
                 .gpu(1)
                 .on("n1")
                 .started(world_.now - hours(1))
                 .annotation(names::kLastCheckpointAnnotation, "just now"));
  world_.add(pod("b").gpu(1).on("n2").started(world_.now - hours(2)));
  EXPECT_THAT(order(), ElementsAre("n3", "n4", "n1", "n2"));
}

}  // namespace
}  // namespace berth::test
