// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/world/store.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace berth::sim {
namespace {

using nlohmann::json;

struct StoreTest : testing::Test {
  Store store;
  const ResourceType& pods = *find_resource_type("pods");
  const ResourceType& nodes = *find_resource_type("nodes");

  StoreKey pod(const std::string& namespace_, const std::string& name) const {
    return {&pods, namespace_, name};
  }
  void put(const StoreKey& key, int value) {
    store.put(key, json{{"metadata", {{"name", key.name}}}, {"value", value}}, "a");
  }
  static std::string names(const std::vector<ObjectPtr>& objects) {
    std::string text;
    for (const ObjectPtr& object : objects)
      text += (*object)["metadata"]["name"].get<std::string>() + (*object)["value"].dump() + " ";
    return text;
  }
};

TEST_F(StoreTest, EachWriteHasARevisionOfItsOwn) {
  const std::int64_t before = store.revision();
  put(pod("a", "p"), 1);
  put({&nodes, "", "n"}, 1);
  EXPECT_EQ(store.revision(), before + 2);
  EXPECT_EQ((*store.find({&nodes, "", "n"}))["metadata"]["resourceVersion"],
            std::to_string(before + 2));
}

TEST_F(StoreTest, ListsAKindByNamespaceInOrder) {
  put(pod("b", "x"), 1);
  put(pod("a", "z"), 2);
  put(pod("a", "y"), 3);
  put({&nodes, "", "n"}, 4);
  EXPECT_EQ(names(store.list(pods)), "y3 z2 x1 ");
  EXPECT_EQ(names(store.list(pods, "a")), "y3 z2 ");
  EXPECT_EQ(names(store.list(pods, "c")), "");
}

TEST_F(StoreTest, RestoredHasTheObjectsAndTheRevisionOfThen) {
  put(pod("a", "x"), 1);
  put(pod("a", "y"), 1);
  const Store::Backup backup = store.save();
  put(pod("a", "x"), 2);
  put(pod("a", "x"), 3);
  store.erase(pod("a", "y"), "a");
  put(pod("a", "z"), 1);
  std::string told;
  store.observe([&](const Change& change) {
    told += change.user + " " + change.key.name +
            (change.kind == Change::Kind::kDeleted ? "-" : "+") + " ";
  });
  store.compact(store.revision());
  store.restore(backup);
  EXPECT_EQ(names(store.list(pods)), "x1 y1 ");
  EXPECT_EQ(store.revision(), backup.revision);
  EXPECT_EQ(told, "etcd-restore x+ etcd-restore y+ etcd-restore z- ");
  EXPECT_EQ(store.since(backup.revision).size(), 0u);
  put(pod("a", "w"), 1);
  EXPECT_EQ(store.revision(), backup.revision + 1);
}

TEST_F(StoreTest, ShowsAKindAsItStoodAtARevision) {
  put(pod("a", "x"), 1);
  put(pod("a", "y"), 1);
  const std::int64_t then = store.revision();
  put(pod("a", "x"), 2);
  store.erase(pod("a", "y"), "a");
  put(pod("a", "z"), 1);
  EXPECT_EQ(names(store.list_at(pods, "", then)), "x1 y1 ");
  EXPECT_EQ(names(store.list(pods)), "x2 z1 ");
}

TEST_F(StoreTest, ADeletionShowsTheLastStateUnderItsOwnRevision) {
  put(pod("a", "x"), 7);
  store.erase(pod("a", "x"), "b");
  const Change& change = *store.since(store.revision() - 1).at(0);
  EXPECT_EQ(change.kind, Change::Kind::kDeleted);
  EXPECT_EQ(change.user, "b");
  EXPECT_EQ(change.frame(), R"({"type":"DELETED","object":{"metadata":{"name":"x",)"
                            R"("resourceVersion":")" +
                                std::to_string(store.revision()) +
                                R"("},"value":7}})"
                                "\n");
}

TEST_F(StoreTest, CompactionForgetsWhatCameBefore) {
  put(pod("a", "x"), 1);
  put(pod("a", "x"), 2);
  const std::int64_t here = store.revision();
  put(pod("a", "x"), 3);
  store.compact(here);
  EXPECT_EQ(store.compacted(), here);
  EXPECT_EQ(store.since(0).size(), 1u);
  store.compact(here + 100);
  EXPECT_EQ(store.compacted(), store.revision()) << "never past what there is";
}

TEST_F(StoreTest, TellsObserversWithinTheWrite) {
  std::string seen;
  store.observe([&](const Change& change) { seen += change.key.str() + " "; });
  put(pod("a", "x"), 1);
  put({&nodes, "", "n"}, 1);
  EXPECT_EQ(seen, "Pod/a/x Node/n ");
}

}  // namespace
}  // namespace berth::sim
