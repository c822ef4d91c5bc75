// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/fit.h"

#include <gtest/gtest.h>

#include <functional>

namespace berth {
namespace {

constexpr Time kNow{};

Node node(const std::string& name, std::int64_t gpus) {
  Node n;
  n.meta.name = name;
  n.meta.uid = "uid-" + name;
  n.meta.labels = {{"zone", "a"}};
  n.ready = true;
  n.allocatable = {{"cpu", Quantity::whole(8)},
                   {"pods", Quantity::whole(3)},
                   {"nvidia.com/gpu", Quantity::whole(gpus)}};
  return n;
}

Pod pod(const std::string& name, std::int64_t gpus, const std::string& on = "") {
  Pod p;
  p.meta.name = name;
  p.meta.namespace_ = "x";
  p.meta.uid = "uid-" + name;
  p.node_name = on;
  p.shape.edit()->requests = {{"cpu", Quantity::whole(1)},
                              {"nvidia.com/gpu", Quantity::whole(gpus)}};
  return p;
}

struct FitCase {
  const char* what;
  std::function<void(Node& n, Pod& p)> change;  // of the one node, and of the pod to be placed
  const char* why_not;                          // empty: it fits
};

TEST(Fit, JudgesAsTheScheduler) {
  const FitCase cases[] = {
      {"room for all it asks", [](Node&, Pod&) {}, ""},
      {"not enough GPUs",
       [](Node&, Pod& p) { p.shape.edit()->requests["nvidia.com/gpu"] = Quantity::whole(5); },
       "0 of 1 nodes: 1 full"},
      {"GPUs enough, but no cpu",
       [](Node&, Pod& p) { p.shape.edit()->requests["cpu"] = Quantity::whole(9); },
       "0 of 1 nodes: 1 full"},
      {"the node has as many pods as it may",
       [](Node& n, Pod&) { n.allocatable["pods"] = Quantity(); }, "0 of 1 nodes: 1 full"},
      {"a resource the node doesn't offer",
       [](Node&, Pod& p) {
         p.shape.edit()->requests = {{"nvidia.com/mig-1g.10gb", Quantity::whole(1)}};
       },
       "0 of 1 nodes: 1 without nvidia.com/mig-1g.10gb"},
      {"cordoned", [](Node& n, Pod&) { n.unschedulable = true; }, "0 of 1 nodes: 1 cordoned"},
      {"not ready", [](Node& n, Pod&) { n.ready = false; }, "0 of 1 nodes: 1 not ready"},
      {"another zone",
       [](Node&, Pod& p) {
         p.shape.edit()->node_selector = {{"zone", "b"}};
       },
       "0 of 1 nodes: 1 not matching its node selector"},
      {"affinity to another zone",
       [](Node&, Pod& p) {
         p.shape.edit()->required_node_affinity = {{{{"zone", SelectorOperator::kIn, {"b"}}}, {}}};
       },
       "0 of 1 nodes: 1 not matching its node selector"},
      {"affinity against what no label could be",
       [](Node&, Pod& p) {
         p.shape.edit()->required_node_affinity = {
             {{{"zone", SelectorOperator::kNotIn, {"-7"}}}, {}}};
       },
       "0 of 1 nodes: 1 not matching its node selector"},
      {"affinity to the node's name",
       [](Node&, Pod& p) {
         p.shape.edit()->required_node_affinity = {
             {{}, {{"metadata.name", SelectorOperator::kIn, {"n1"}}}}};
       },
       ""},
      {"tainted",
       [](Node& n, Pod&) {
         n.taints = {{"k", "v", "NoSchedule"}};
       },
       "0 of 1 nodes: 1 tainted"},
      {"tainted and tolerated",
       [](Node& n, Pod& p) {
         n.taints = {{"k", "v", "NoSchedule"}};
         p.shape.edit()->tolerations = {{"k", "Exists", "", ""}};
       },
       ""},
      {"a taint that only prefers",
       [](Node& n, Pod&) {
         n.taints = {{"k", "v", "PreferNoSchedule"}};
       },
       ""},
  };
  for (const FitCase& c : cases) {
    Node n = node("n1", 4);
    Pod p = pod("p", 1);
    c.change(n, p);
    ClusterState cluster;
    cluster.upsert(n, kNow);
    const Fit fit(cluster);
    const Node* place = fit.place(p);
    EXPECT_EQ(place != nullptr, std::string(c.why_not).empty()) << c.what;
    EXPECT_EQ(fit.fits(p, "n1"), place != nullptr) << c.what;
    EXPECT_EQ(place != nullptr ? "" : fit.explain(p), c.why_not) << c.what;
  }
}

TEST(Fit, TakesTheNodeWithTheMostRoomAndKeepsCount) {
  ClusterState cluster;
  cluster.upsert(node("n1", 2), kNow);
  cluster.upsert(node("n2", 4), kNow);
  cluster.upsert(pod("sitting", 1, "n2"), kNow);
  Fit fit(cluster);
  Pod first = pod("first", 2);
  ASSERT_EQ(fit.place(first)->meta.name, "n2") << "3 free there, 2 on n1";
  first.node_name = "n2";
  fit.pod_bound(first);
  EXPECT_EQ(fit.place(pod("second", 2))->meta.name, "n1");
  Pod second = pod("second", 2, "n1");
  fit.pod_bound(second);
  EXPECT_EQ(fit.place(pod("third", 2)), nullptr);
  fit.pod_left(first);
  EXPECT_EQ(fit.place(pod("third", 2))->meta.name, "n2");
}

TEST(Fit, FollowsTheNode) {
  ClusterState cluster;
  cluster.upsert(node("n1", 4), kNow);
  Fit fit(cluster);
  Node cordoned = node("n1", 4);
  cordoned.unschedulable = true;
  fit.node_changed(*cluster.upsert(cordoned, kNow).current);
  EXPECT_EQ(fit.place(pod("p", 1)), nullptr);
  fit.node_changed(*cluster.upsert(node("n1", 4), kNow).current);
  EXPECT_NE(fit.place(pod("p", 1)), nullptr);
}

TEST(Fit, TellsAllThatKeepsAPodOffANodeAndRoomLast) {
  using enum Fit::Verdict;
  Node n = node("n1", 0);
  n.ready = false;
  n.unschedulable = true;
  n.taints = {{"k", "v", "NoExecute"}, {"soft", "", "PreferNoSchedule"}};
  Pod p = pod("p", 1);
  p.shape.edit()->node_selector = {{"zone", "b"}};
  ClusterState cluster;
  cluster.upsert(n, kNow);
  EXPECT_EQ(Fit(cluster).obstacles(p, "n1"),
            (std::vector{kNotReady, kCordoned, kNotSelected, kTainted, kLacksGpu}));
  EXPECT_EQ(untolerated(p, n), (std::vector<Taint>{{"k", "v", "NoExecute"}}));
  cluster.upsert(node("n1", 1), kNow);
  EXPECT_EQ(Fit(cluster).obstacles(pod("p", 2), "n1"), std::vector{kFull});
  EXPECT_TRUE(Fit(cluster).obstacles(pod("p", 1), "n1").empty());
  EXPECT_TRUE(Fit(cluster).obstacles(pod("p", 2), "n9").empty()) << "nothing is known of it";
  EXPECT_FALSE(Fit(cluster).fits(pod("p", 1), "n9"));
}

TEST(Fit, CountsWhatBoundPodsAskForUntilTheyEnd) {
  ClusterState cluster;
  cluster.upsert(node("n1", 4), kNow);
  cluster.upsert(pod("a", 1, "n1"), kNow);
  Pod done = pod("b", 2, "n1");
  done.phase = PodPhase::kSucceeded;
  cluster.upsert(done, kNow);
  cluster.upsert(pod("c", 1), kNow);
  const Fit fit(cluster);
  EXPECT_EQ(fit.free_on("n1", "nvidia.com/gpu"), Quantity::whole(3));
  EXPECT_EQ(fit.free_on("n1", "cpu"), Quantity::whole(7));
  EXPECT_EQ(fit.free_on("n9", "cpu"), Quantity());
}

TEST(Fit, TheLastPodThatANodeTakesFits) {
  ClusterState cluster;
  cluster.upsert(node("n1", 4), kNow);
  cluster.upsert(pod("a", 1, "n1"), kNow);
  cluster.upsert(pod("b", 1, "n1"), kNow);
  EXPECT_TRUE(Fit(cluster).fits(pod("p", 1), "n1"));
  cluster.upsert(pod("c", 1, "n1"), kNow);
  EXPECT_FALSE(Fit(cluster).fits(pod("p", 1), "n1"));
  Node unbounded = node("n1", 4);
  unbounded.allocatable = {{"cpu", Quantity::whole(8)}, {"nvidia.com/gpu", Quantity::whole(4)}};
  cluster.upsert(unbounded, kNow);
  EXPECT_TRUE(Fit(cluster).fits(pod("p", 1), "n1"));
  EXPECT_FALSE(Fit(cluster).fits(pod("p", 2), "n1"));
}

TEST(Fit, AskingForNoneOfAResourceAsksForNothing) {
  Node bare = node("n1", 0);
  bare.allocatable = {{"cpu", Quantity::whole(8)}};
  ClusterState cluster;
  cluster.upsert(bare, kNow);
  const Fit fit(cluster);
  EXPECT_TRUE(fit.fits(pod("p", 0), "n1"));
  EXPECT_EQ(fit.place(pod("p", 0))->meta.name, "n1");
  EXPECT_TRUE(Fit::gpu_resource_of(pod("p", 0)).empty());
  EXPECT_EQ(Fit::gpu_resource_of(pod("p", 1)), "nvidia.com/gpu");
  EXPECT_EQ(fit.explain(pod("p", 1)), "0 of 1 nodes: 1 without nvidia.com/gpu");
}

TEST(Fit, AmongEqualsTheFirstByNameIsTaken) {
  ClusterState cluster;
  for (const char* name : {"n2", "n1", "n3"}) cluster.upsert(node(name, 4), kNow);
  EXPECT_EQ(Fit(cluster).place(pod("p", 1))->meta.name, "n1");
  Pod plain = pod("p", 1);
  plain.shape.edit()->requests = {{"cpu", Quantity::whole(1)}};
  EXPECT_EQ(Fit(cluster).place(plain)->meta.name, "n1");
}

TEST(Fit, ExplainsByCountsAndAnewOnceSomethingHasMoved) {
  ClusterState cluster;
  EXPECT_EQ(Fit(cluster).explain(pod("p", 1)), "0 of 0 nodes");
  for (const char* name : {"n1", "n2", "n3"}) cluster.upsert(node(name, 1), kNow);
  Node away = node("n3", 1);
  away.unschedulable = true;
  cluster.upsert(away, kNow);
  cluster.upsert(pod("a", 1, "n2"), kNow);
  Fit fit(cluster);
  EXPECT_EQ(fit.explain(pod("p", 1)), "0 of 3 nodes: 1 cordoned, 1 full");
  const Pod b = pod("b", 1, "n1");
  fit.pod_bound(b);
  EXPECT_EQ(fit.explain(pod("p", 1)), "0 of 3 nodes: 1 cordoned, 2 full");
  EXPECT_EQ(fit.explain(pod("p", 2)), "0 of 3 nodes: 1 cordoned, 2 full");
  fit.node_changed(*cluster.upsert(node("n3", 0), kNow).current);
  EXPECT_EQ(fit.explain(pod("p", 2)), "0 of 3 nodes: 1 without nvidia.com/gpu, 2 full");
}

TEST(Fit, KnowsWhichOpenNodesHaveRoomLeft) {
  const Text gpu("nvidia.com/gpu");
  ClusterState cluster;
  cluster.upsert(node("n1", 2), kNow);
  Node away = node("n2", 2);
  away.unschedulable = true;
  cluster.upsert(away, kNow);
  Fit fit(cluster);
  EXPECT_TRUE(fit.has_room("n1", gpu));
  EXPECT_FALSE(fit.has_room("n2", gpu));
  EXPECT_FALSE(fit.has_room("n1", Text("nvidia.com/mig-1g.10gb")));
  const Pod two = pod("p", 2, "n1");
  fit.pod_bound(two);
  EXPECT_FALSE(fit.has_room("n1", gpu));
  fit.pod_left(two);
  EXPECT_TRUE(fit.has_room("n1", gpu));
  fit.pod_bound(pod("q", 2, "n9"));
  EXPECT_TRUE(fit.has_room("n1", gpu)) << "a pod of a node that is not known";
  fit.node_changed(*cluster.upsert(node("n2", 2), kNow).current);
  EXPECT_TRUE(fit.has_room("n2", gpu));
  fit.node_changed(*cluster.upsert(away, kNow).current);
  EXPECT_FALSE(fit.has_room("n2", gpu));
}

}  // namespace
}  // namespace berth
