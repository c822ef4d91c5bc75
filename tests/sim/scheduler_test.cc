// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/kube_world.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct SchedulerTest : testing::Test, KubeWorld {
  std::string node_of(const std::string& pod) const { return at("pods", pod, "/spec/nodeName"); }
  std::string why(const std::string& pod) const {
    return at("pods", pod, "/status/conditions/0/message");
  }
};

TEST_F(SchedulerTest, APodIsBoundWithinTheLagAndSaysSo) {
  add_node("n1", 4);
  add_pod("p", 2);
  run_for(4ms);
  EXPECT_EQ(node_of("p"), "");
  run_for(500ms);
  EXPECT_EQ(node_of("p"), "n1");
  EXPECT_EQ(condition("pods", "p", "PodScheduled"), "True");
}

TEST_F(SchedulerTest, APodDecidedBeforeTheCordonIsBoundAfterIt) {
  add_node("n1", 4);
  add_pod("early", 1);
  run_for(1ms);
  merge("nodes", "n1", R"({"spec":{"unschedulable":true}})");
  add_pod("late", 1);
  run_for(2s);
  EXPECT_EQ(node_of("early"), "n1");
  EXPECT_EQ(node_of("late"), "");
  EXPECT_EQ(condition("pods", "late", "PodScheduled"), "False Unschedulable");
  merge("nodes", "n1", R"({"spec":{"unschedulable":null}})");
  run_for(2s);
  EXPECT_EQ(node_of("late"), "n1") << "uncordoned, and its taint is gone";
}

TEST_F(SchedulerTest, WhatIsDecidedButNotBoundYetCounts) {
  add_node("n1", 2);
  add_pod("a", 2);
  add_pod("b", 2);
  run_for(3s);
  EXPECT_NE(node_of("a").empty(), node_of("b").empty()) << node_of("a") << node_of("b");
}

TEST_F(SchedulerTest, APodWaitsForDevicesAndIsBoundWhenTheyAreFree) {
  add_node("n1", 2);
  add_pod("first", 2);
  run_for(3s);
  add_pod("second", 1);
  run_for(3s);
  EXPECT_EQ(node_of("second"), "");
  EXPECT_EQ(why("second"), "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
  remove("pods", "first");
  run_for(1s);
  EXPECT_EQ(node_of("second"), "") << "a pod that stops still holds its device";
  run_for(3s);
  EXPECT_EQ(node_of("second"), "n1");
}

TEST_F(SchedulerTest, DevicesThatAppearLetAPodIn) {
  add_node("n1", 0);
  add_pod("p", 1);
  run_for(2s);
  EXPECT_EQ(node_of("p"), "");
  merge("nodes", "n1", R"({"status":{"allocatable":{"nvidia.com/gpu":"1"}}})", "status");
  run_for(1s);
  EXPECT_EQ(node_of("p"), "n1");
}

TEST_F(SchedulerTest, MostFreeThenTheName) {
  add_node("a", 1);
  add_node("b", 4);
  add_node("c", 4);
  add_pod("p", 1);
  run_for(1s);
  EXPECT_EQ(node_of("p"), "b");
  add_pod("q", 1);
  run_for(1s);
  EXPECT_EQ(node_of("q"), "c");
}

TEST_F(SchedulerTest, AGatedPodWaitsForItsGate) {
  add_node("n1", 1);
  add_pod("p", 1, R"({"schedulingGates":[{"name":"hold"}]})");
  run_for(10s);
  EXPECT_EQ(node_of("p"), "");
  merge("pods", "p", R"({"spec":{"schedulingGates":null}})");
  run_for(1s);
  EXPECT_EQ(node_of("p"), "n1");
}

TEST_F(SchedulerTest, AnotherSchedulersPodIsLeftAlone) {
  add_node("n1", 1);
  add_pod("p", 1, R"({"schedulerName":"volcano"})");
  run_for(10s);
  EXPECT_EQ(node_of("p"), "");
}

// Only "good" has what the pod requests.
struct Placement {
  const char* sentence;
  const char* bad;   // patch of the other node
  const char* good;  // of the right one
  const char* spec;  // of the pod
};

class PlacementTest : public testing::TestWithParam<Placement> {};

TEST_P(PlacementTest, OnlyTheRightNodeWillDo) {
  const Placement& c = GetParam();
  KubeWorld world;
  world.add_node("bad", 8);
  world.add_node("good", 1);
  world.merge("nodes", "bad", c.bad);
  world.merge("nodes", "good", c.good);
  world.run_for(1s);
  world.add_pod("p", 1, c.spec);
  world.run_for(1s);
  EXPECT_EQ(world.at("pods", "p", "/spec/nodeName"), "good") << c.sentence;
}

constexpr Placement kPlacements[] = {
    {"a taint that nobody tolerates",
     R"({"spec":{"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]}})", "{}", "{}"},
    {"a preference keeps nobody away from the only fit", R"({"spec":{"unschedulable":true}})",
     R"({"spec":{"taints":[{"key":"k","effect":"PreferNoSchedule"}]}})", "{}"},
    {"a toleration of another value",
     R"({"spec":{"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]}})",
     R"({"spec":{"taints":[{"key":"k","value":"w","effect":"NoSchedule"}]}})",
     R"({"tolerations":[{"key":"k","value":"w","effect":"NoSchedule"}]})"},
    {"a toleration of one effect alone",
     R"({"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}})",
     R"({"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}})",
     R"({"tolerations":[{"operator":"Exists","effect":"NoSchedule"}]})"},
    {"a node selector", R"({"metadata":{"labels":{"pool":"a"}}})",
     R"({"metadata":{"labels":{"pool":"b"}}})", R"({"nodeSelector":{"pool":"b"}})"},
    {"node affinity by expression", R"({"metadata":{"labels":{"pool":"a","size":"3"}}})",
     R"({"metadata":{"labels":{"pool":"b","size":"9"}}})",
     R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
         {"nodeSelectorTerms":[{"matchExpressions":[{"key":"pool","operator":"NotIn","values":["a"]},
                                                     {"key":"size","operator":"Gt","values":["5"]}]}]}}}})"},
    {"node affinity by name", "{}", "{}",
     R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
         {"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["good"]}]}]}}}})"},
};
INSTANTIATE_TEST_SUITE_P(All, PlacementTest, testing::ValuesIn(kPlacements));

TEST_F(SchedulerTest, AnInitContainerThatNeedsMoreThanTheRestDecides) {
  add_node("n1", 1);
  add_pod("p", 1, R"({"initContainers":[{"name":"i","image":"i","resources":{
      "requests":{"nvidia.com/gpu":"2"},"limits":{"nvidia.com/gpu":"2"}}}]})");
  run_for(1s);
  EXPECT_EQ(node_of("p"), "");
  EXPECT_THAT(why("p"), HasSubstr("Insufficient nvidia.com/gpu"));
}

TEST_F(SchedulerTest, APodThatIsReplacedWhileItIsBeingBoundIsDecidedAnew) {
  add_node("n1", 1);
  add_pod("p", 1);
  run_for(1ms);
  remove("pods", "p");
  add_pod("p", 1);
  run_for(2s);
  EXPECT_EQ(node_of("p"), "n1");
}

}  // namespace
}  // namespace berth::sim
