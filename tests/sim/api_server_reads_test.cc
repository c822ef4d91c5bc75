// SPDX-License-Identifier: Apache-2.0
// Lists and watches of the simulated server, the base of every informer.
#include <gtest/gtest.h>

#include "tests/sim/api_server_calls.h"

namespace berth::sim {
namespace {

constexpr char kWatchList[] =
    "/api/v1/nodes?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
    "&resourceVersionMatch=NotOlderThan";

struct ApiServerReads : testing::Test, ServerCalls {
  void add_node(const std::string& name, const std::string& tier = "a") {
    ASSERT_EQ(post(kNodes,
                   R"({"metadata":{"name":")" + name + R"(","labels":{"tier":")" + tier + R"("}}})")
                  .code,
              201);
  }
  std::string now() const { return std::to_string(store.revision()); }
};

TEST_F(ApiServerReads, AWatchListIsTheObjectsThenABookmarkThenChanges) {
  add_node("n1");
  Watched watched(*this, kWatchList);
  EXPECT_EQ(watched.summary(), "ADDED n1, BOOKMARK");
  EXPECT_NE(watched.frames[1].find(R"("annotations":{"k8s.io/initial-events-end":"true"})"),
            std::string::npos);
  add_node("n2");
  merge_patch("/api/v1/nodes/n1", R"({"metadata":{"labels":{"x":"y"}}})");
  remove("/api/v1/nodes/n2");
  EXPECT_EQ(watched.summary(), "ADDED n1, BOOKMARK, ADDED n2, MODIFIED n1, DELETED n2");
  server.beat();
  EXPECT_EQ(member(watched.frames.back(), "type"), "BOOKMARK");
  EXPECT_EQ(member(watched.frames.back(), "resourceVersion"), now());
}

TEST_F(ApiServerReads, AWatchFromARevisionReplaysWhatCameAfter) {
  add_node("n1");
  const std::string from = now();
  add_node("n2");
  Watched watched(*this, std::string(kNodes) + "?watch=1&resourceVersion=" + from);
  EXPECT_EQ(watched.summary(), "ADDED n2");
}

TEST_F(ApiServerReads, AWatchFromWhatIsCompactedIsTold410InTheStream) {
  add_node("n1");
  const std::string from = now();
  add_node("n2");
  store.compact(store.revision());
  Watched watched(*this, std::string(kNodes) + "?watch=1&resourceVersion=" + from);
  EXPECT_EQ(watched.reply.code, 200);
  ASSERT_EQ(watched.frames.size(), 1u);
  EXPECT_EQ(member(watched.frames[0], "type"), "ERROR");
  EXPECT_EQ(member(watched.frames[0], "code"), "410");
  EXPECT_TRUE(watched.ended);
}

TEST_F(ApiServerReads, WhatStopsMatchingIsDeletedForThatWatcher) {
  add_node("n1", "a");
  add_node("n2", "b");
  Watched watched(*this,
                  std::string(kNodes) + "?watch=1&labelSelector=tier%3Da&resourceVersion=" + now());
  merge_patch("/api/v1/nodes/n1", R"({"metadata":{"labels":{"tier":"b"}}})");
  merge_patch("/api/v1/nodes/n2", R"({"metadata":{"labels":{"tier":"a"}}})");
  merge_patch("/api/v1/nodes/n2", R"({"metadata":{"labels":{"more":"x"}}})");
  merge_patch("/api/v1/nodes/n1", R"({"metadata":{"labels":{"more":"x"}}})");
  EXPECT_EQ(watched.summary(), "DELETED n1, ADDED n2, MODIFIED n2");
  EXPECT_EQ(member(watched.frames[0], "tier"), "a") << "as the watcher last saw it";
}

TEST_F(ApiServerReads, APodThatEndsLeavesTheSelectionOfThoseThatHaveNot) {
  constexpr char kUnfinished[] =
      "/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";
  post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
  for (const char* name : {"a", "b"})
    post("/api/v1/namespaces/team/pods",
         std::string(R"({"metadata":{"name":")") + name +
             R"("},"spec":{"containers":[{"name":"main","image":"x"}]}})");
  const auto set_phase = [&](const std::string& name, const std::string& phase) {
    merge_patch("/api/v1/namespaces/team/pods/" + name + "/status",
                R"({"status":{"phase":")" + phase + R"("}})");
  };
  Watched watched(*this, std::string(kUnfinished) + "&watch=1&resourceVersion=" + now());
  set_phase("a", "Running");
  set_phase("a", "Succeeded");
  set_phase("b", "Failed");
  EXPECT_EQ(watched.summary(), "MODIFIED a, DELETED a, DELETED b");
  EXPECT_EQ(member(watched.frames[1], "phase"), "Running") << "as the watcher last saw it";
  remove("/api/v1/namespaces/team/pods/b", R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(watched.frames.size(), 3u) << "it had left before";
  EXPECT_EQ(get(kUnfinished).body.find(R"("name":"a")"), std::string::npos);
}

TEST_F(ApiServerReads, AWatchOfTheFutureSaysThatTheServerLagsBehind) {
  Watched watched(*this, std::string(kWatchList) + "&resourceVersion=999999");
  ASSERT_EQ(watched.frames.size(), 1u);
  EXPECT_EQ(member(watched.frames[0], "code"), "504");
  const ApiReply list = get(std::string(kNodes) + "?resourceVersion=999999");
  EXPECT_EQ(list.code, 504);
  EXPECT_NE(list.body.find("ResourceVersionTooLarge"), std::string::npos);
}

TEST_F(ApiServerReads, AWatchEndsWhenItsTimeIsOver) {
  Watched watched(*this,
                  std::string(kNodes) + "?watch=1&timeoutSeconds=90&resourceVersion=" + now());
  clock.move_to(std::chrono::seconds(60));
  server.beat();
  EXPECT_FALSE(watched.ended);
  clock.move_to(std::chrono::seconds(120));
  server.beat();
  EXPECT_TRUE(watched.ended);
}

TEST_F(ApiServerReads, AllPagesOfAListShowOneRevision) {
  for (const char* name : {"n1", "n2", "n3"}) add_node(name);
  const ApiReply first = get(std::string(kNodes) + "?limit=2");
  EXPECT_EQ(member(first.body, "remainingItemCount"), "1");
  const std::string token = member(first.body, "continue");
  add_node("n4");
  remove("/api/v1/nodes/n3");
  const ApiReply second = get(std::string(kNodes) + "?limit=2&continue=" + token);
  EXPECT_NE(second.body.find(R"("name":"n3")"), std::string::npos);
  EXPECT_EQ(second.body.find(R"("name":"n4")"), std::string::npos);
  EXPECT_EQ(member(second.body, "resourceVersion"), member(first.body, "resourceVersion"));
  EXPECT_EQ(member(second.body, "continue"), "");
  store.compact(store.revision());
  EXPECT_EQ(get(std::string(kNodes) + "?limit=2&continue=" + token).code, 410);
  EXPECT_EQ(get(std::string(kNodes) + "?continue=nonsense").code, 400);
}

TEST_F(ApiServerReads, AListOfPodsGoesByNode) {
  const std::string pods = "/api/v1/namespaces/default/pods";
  for (const char* node : {"n1", "n2"})
    post(pods, R"({"metadata":{"name":"p-)" + std::string(node) + R"("},"spec":{"nodeName":")" +
                   node + R"(","containers":[{"name":"c","image":"i"}]}})");
  const std::string body = get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1").body;
  EXPECT_NE(body.find(R"("name":"p-n1")"), std::string::npos);
  EXPECT_EQ(body.find(R"("name":"p-n2")"), std::string::npos);
  EXPECT_EQ(get("/api/v1/pods?fieldSelector=spec.none%3Dn1").code, 400);
}

TEST_F(ApiServerReads, DiscoveryTellsWhatBerthNeeds) {
  const std::string core = get("/api/v1").body;
  EXPECT_NE(core.find(R"("group":"policy","kind":"Eviction","name":"pods/eviction")"),
            std::string::npos);
  EXPECT_NE(get("/apis/gpu.berth.dev/v1alpha1").body.find(R"("name":"miglayouts/status")"),
            std::string::npos);
  EXPECT_EQ(get("/apis/nvidia.com/v1").code, 404) << "ClusterPolicies are not installed";
}

}  // namespace
}  // namespace berth::sim
