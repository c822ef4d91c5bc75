// SPDX-License-Identifier: Apache-2.0
#include "controller/core/store.h"

#include <gtest/gtest.h>

#include "controller/core/cluster_state.h"

namespace berth {
namespace {

using std::chrono::seconds;

Node node(std::string name, std::string uid, std::int64_t gpus) {
  Node n;
  n.meta.name = std::move(name);
  n.meta.uid = std::move(uid);
  n.ready = true;
  n.allocatable.set("nvidia.com/gpu", Quantity::whole(gpus));
  return n;
}

Pod pod(std::string name, const char* on, std::int64_t gpus) {
  Pod p;
  p.meta.name = std::move(name);
  p.meta.namespace_ = "team-a";
  p.meta.uid = p.meta.name;
  p.node_name = on;
  p.phase = PodPhase::kRunning;
  p.requests.set("nvidia.com/gpu", Quantity::whole(gpus));
  return p;
}

std::vector<std::string> names(const auto& pods) {
  std::vector<std::string> out;
  for (const Pod* p : pods) out.push_back(p->meta.name);
  return out;
}

TEST(Store, AHeartbeatThatMovesOnlyTheResourceVersionIsNoChange) {
  Store<Node> store;
  Node n = node("n1", "u1", 4);
  n.meta.resource_version = "1";
  EXPECT_EQ(store.upsert(n).change, StoreChange::kAdded);
  n.meta.resource_version = "2";
  EXPECT_EQ(store.upsert(n).change, StoreChange::kUnchanged);
  EXPECT_EQ(store.find("n1")->meta.resource_version, "2");
  n.ready = false;
  EXPECT_EQ(store.upsert(n).change, StoreChange::kModified);
}

TEST(Store, AnotherUidUnderTheSameNameIsAnotherObject) {
  Store<Node> store;
  (void)store.upsert(node("n1", "u1", 4));
  auto result = store.upsert(node("n1", "u2", 4));
  EXPECT_EQ(result.change, StoreChange::kReplaced);
  EXPECT_EQ(result.old->meta.uid, "u1");
}

TEST(Store, WalksInNamespaceAndNameOrder) {
  Store<Node> store;
  for (const char* name : {"n10", "n2", "n1"}) (void)store.upsert(node(name, name, 1));
  std::vector<std::string> seen;
  for (const auto& n : store) seen.push_back(n->meta.name);
  EXPECT_EQ(seen, (std::vector<std::string>{"n1", "n10", "n2"}));
}

TEST(ClusterState, PodsAreFoundByNodeAndByResourceWhileTheyHoldIt) {
  ClusterState cluster;
  (void)cluster.upsert(pod("b", "n1", 2), {});
  (void)cluster.upsert(pod("a", "n1", 1), {});
  (void)cluster.upsert(pod("idle", "n1", 0), {});
  (void)cluster.upsert(pod("unbound", "", 1), {});
  EXPECT_EQ(cluster.pods_on("n1").size(), 3u);
  EXPECT_EQ(names(cluster.pods_using("nvidia.com/gpu")), (std::vector<std::string>{"a", "b"}));

  Pod done = pod("a", "n1", 1);
  done.phase = PodPhase::kSucceeded;
  (void)cluster.upsert(done, {});
  EXPECT_EQ(names(cluster.pods_using("nvidia.com/gpu")), (std::vector<std::string>{"b"}));
  EXPECT_EQ(cluster.pods_on("n1").size(), 3u);

  (void)cluster.erase<Pod>("team-a", "b");
  EXPECT_TRUE(cluster.pods_using("nvidia.com/gpu").empty());
  EXPECT_TRUE(cluster.pods_on("elsewhere").empty());
}

TEST(ClusterState, ACopyKeepsItsPodsWhenTheOriginalMovesOn) {
  ClusterState base;
  (void)base.upsert(pod("a", "n1", 1), {});
  ClusterState what_if = base;
  (void)base.erase<Pod>("team-a", "a");
  ASSERT_EQ(what_if.pods_on("n1").size(), 1u);
  EXPECT_EQ(what_if.pods_on("n1")[0]->meta.name, "a");
  EXPECT_TRUE(base.pods_on("n1").empty());
}

TEST(ClusterState, AllocatableSinceMovesOnlyWithWhatTheNodeOffers) {
  ClusterState cluster;
  Node n = node("n1", "u1", 4);
  (void)cluster.upsert(n, Time(seconds(10)));
  n.meta.labels.set("a", "b");
  (void)cluster.upsert(n, Time(seconds(20)));
  EXPECT_EQ(cluster.allocatable_since("n1"), Time(seconds(10)));
  n.boot_id = "rebooted";
  (void)cluster.upsert(n, Time(seconds(30)));
  EXPECT_EQ(cluster.allocatable_since("n1"), Time(seconds(30)));
  EXPECT_EQ(cluster.allocatable_since("unknown"), Time::max());
}

}  // namespace
}  // namespace berth
