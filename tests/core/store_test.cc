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
  p.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
  return p;
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

TEST(Store, ACopyIsFoundInAndChangedByItself) {
  Store<Node> store;
  for (const char* name : {"n1", "n2", "n3"}) (void)store.upsert(node(name, name, 1));
  Store<Node> copy = store;
  (void)store.erase("", "n2");
  (void)store.upsert(node("n1", "n1", 8));
  ASSERT_NE(copy.find("n2"), nullptr);
  EXPECT_EQ(copy.find("n1")->allocatable, node("n1", "n1", 1).allocatable);
  (void)copy.upsert(node("n4", "n4", 1));
  EXPECT_EQ(store.find("n4"), nullptr);
  EXPECT_EQ(store.size(), 2u);
  store = copy;
  EXPECT_EQ(store.find("n4"), copy.find("n4"));
  EXPECT_EQ(store.erase("", "n2").get(), copy.find("n2"));
  EXPECT_EQ(copy.size(), 4u);
}

TEST(ClusterState, PodsAreFoundByNode) {
  ClusterState cluster;
  (void)cluster.upsert(pod("b", "n1", 2), {});
  (void)cluster.upsert(pod("a", "n1", 1), {});
  (void)cluster.upsert(pod("unbound", "", 1), {});
  EXPECT_EQ(cluster.pods_on("n1").size(), 2u);

  Pod done = pod("a", "n1", 1);
  done.phase = PodPhase::kSucceeded;
  (void)cluster.upsert(done, {});
  EXPECT_EQ(cluster.pods_on("n1").size(), 2u);

  (void)cluster.erase<Pod>("team-a", "b");
  EXPECT_EQ(cluster.pods_on("n1").size(), 1u);
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

TEST(ClusterState, OccupantsAreTheUnfinishedPodsOfANodeAsTheyAreNow) {
  ClusterState cluster;
  Pod worker = pod("worker", "n1", 2);
  worker.shape.edit()->priority = 7;
  worker.start_time = Time(seconds(100));
  worker.meta.labels.set("gpu.berth.dev/pod-group", "ring");
  (void)cluster.upsert(worker, {});
  (void)cluster.upsert(pod("idle", "n2", 1), {});
  ASSERT_EQ(cluster.occupants_of("n1").size(), 1u);
  const Occupant before = cluster.occupants_of("n1").front();
  EXPECT_EQ(before.pod->meta.name, "worker");
  EXPECT_EQ(before.resource, "nvidia.com/gpu");
  EXPECT_EQ(before.count, 2);
  EXPECT_EQ(before.priority, 7);
  EXPECT_EQ(before.work_from_s, 100);
  EXPECT_EQ(before.group, "ring");

  worker.meta.annotations.set("gpu.berth.dev/last-checkpoint", "1970-01-01T00:05:00Z");
  worker.shape.edit()->requests.set("nvidia.com/mig-1g.10gb", Quantity::whole(3));
  (void)cluster.upsert(worker, {});
  const Occupant after = cluster.occupants_of("n1").front();
  EXPECT_EQ(after.work_from_s, 300);
  EXPECT_EQ(after.gpus, 5);
  std::int64_t asked = 0;
  each_demand(after, [&](const Text&, std::int64_t count) { asked += count; });
  EXPECT_EQ(asked, 5);

  worker.phase = PodPhase::kSucceeded;
  (void)cluster.upsert(worker, {});
  EXPECT_TRUE(cluster.occupants_of("n1").empty());
  EXPECT_EQ(cluster.occupants_of("n2").size(), 1u);
  EXPECT_TRUE(cluster.occupants_of("elsewhere").empty());
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
  n.allocatable.set("nvidia.com/gpu", Quantity::whole(3));
  (void)cluster.upsert(n, Time(seconds(40)));
  EXPECT_EQ(cluster.allocatable_since("n1"), Time(seconds(40)));
  n.ready = false;
  (void)cluster.upsert(n, Time(seconds(50)));
  EXPECT_EQ(cluster.allocatable_since("n1"), Time(seconds(50)));
  n.meta.uid = "reborn";
  (void)cluster.upsert(n, Time(seconds(60)));
  EXPECT_EQ(cluster.allocatable_since("n1"), Time(seconds(60)));
  (void)cluster.erase<Node>("", "n1");
  EXPECT_EQ(cluster.allocatable_since("n1"), Time::max());
  EXPECT_EQ(cluster.allocatable_since("unknown"), Time::max());
}

}  // namespace
}  // namespace berth
