// SPDX-License-Identifier: Apache-2.0
// A dump's parts that only explain, item by item.
#include "controller/dump/clues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/time.h"

namespace berth {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

Clues clues_of(std::string_view kind, const char* item) {
  Clues clues;
  const Result<bool> taken = take_clue(kind, json::parse(item), clues);
  EXPECT_TRUE(taken.has_value() && *taken) << kind;
  return clues;
}

// The clues of pod x/a, if it has any.
std::optional<PodClues> pod_clues(const char* item) {
  Clues clues;
  take_pod_clues(json::parse(item), clues);
  if (clues.pods.empty()) return std::nullopt;
  return clues.pods.at({"x", "a"});
}

TEST(Clues, AWorkloadIsAsItStands) {
  for (const char* kind : {"Deployment", "ReplicaSet", "StatefulSet"}) {
    const Clues clues = clues_of(kind, R"({
        "metadata":{"namespace":"x","name":"web","uid":"u1","ownerReferences":[
          {"uid":"o1","controller":true},{"uid":"o2","controller":false},{"uid":"o3"}]},
        "spec":{"replicas":3,"paused":true},
        "status":{"conditions":[{"type":"ReplicaFailure","status":"False","message":"before"},
          {"type":"Available","status":"True","message":"fine"},
          {"type":"ReplicaFailure","status":"True","message":"exceeded quota"}]}})");
    ASSERT_EQ(clues.workloads.size(), 1U);
    const Workload& web = clues.workloads[0];
    EXPECT_EQ(web.kind, kind);
    EXPECT_EQ(web.namespace_ + "/" + web.name + "/" + web.uid, "x/web/u1");
    EXPECT_EQ(web.owner_uid, "o1") << "its controller";
    EXPECT_EQ(web.replicas, 3);
    EXPECT_TRUE(web.paused);
    EXPECT_EQ(web.failure, "exceeded quota");
  }
}

TEST(Clues, AWorkloadThatSaysNothingHasOnePodAndNoTrouble) {
  for (const char* item : {R"({"metadata":{"name":"web"}})",
                           R"({"metadata":{"name":"web"},"spec":{"replicas":"3","paused":"true"},
            "status":{"conditions":[{"type":"ReplicaFailure","status":"False","message":"m"}]}})",
                           R"({"metadata":{"name":"web"},"spec":{"paused":false},"status":7})"}) {
    const Workload web = clues_of("Deployment", item).workloads.at(0);
    EXPECT_EQ(web.replicas, 1) << item;
    EXPECT_FALSE(web.paused) << item;
    EXPECT_EQ(web.failure + web.owner_uid, "") << item;
  }
}

TEST(Clues, AnEventWasLastSeenWhenItsSeriesWas) {
  struct Row {
    const char* times;
    const char* last;
  };
  for (const Row& row : {
           Row{R"("series":{"lastObservedTime":"2026-11-21T12:03:00Z"},
                  "lastTimestamp":"2026-11-21T12:02:00Z","eventTime":"2026-11-21T12:01:00Z")",
               "2026-11-21T12:03:00Z"},
           Row{R"("lastTimestamp":"2026-11-21T12:02:00Z","eventTime":"2026-11-21T12:01:00Z")",
               "2026-11-21T12:02:00Z"},
           Row{R"("lastTimestamp":null,"eventTime":"2026-11-21T12:01:00Z")",
               "2026-11-21T12:01:00Z"},
           Row{R"("lastTimestamp":"soon")", ""},
       }) {
    const std::string item = R"({"involvedObject":{"namespace":"x","kind":"Job","name":"j",
        "uid":"u1"},"message":"forbidden",)" +
                             std::string(row.times) + "}";
    const RefusalEvent event = clues_of("Event", item.c_str()).refusals.at(0);
    EXPECT_EQ(event.last ? format_time(*event.last) : "", row.last) << row.times;
    EXPECT_EQ(event.namespace_ + "/" + event.object_kind + "/" + event.object_name + "/" +
                  event.object_uid + ": " + event.message,
              "x/Job/j/u1: forbidden");
  }
}

TEST(Clues, ALeaseSaysWhoRuns) {
  EXPECT_EQ(clues_of("Lease", R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}})")
                .lease->holder_identity,
            "me");
  Clues clues;
  const json odd = json::parse(R"({"metadata":{"name":"l"},"spec":{"holderIdentity":7}})");
  const Result<bool> taken = take_clue("Lease", odd, clues);
  ASSERT_FALSE(taken.has_value());
  EXPECT_THAT(describe(taken.error()), HasSubstr("holderIdentity"));
  EXPECT_FALSE(clues.lease.has_value());
}

TEST(Clues, WhatIsNoClueIsLeft) {
  Clues clues;
  const Result<bool> taken = take_clue("Node", json::parse(R"({"metadata":{"name":"n"}})"), clues);
  ASSERT_TRUE(taken.has_value());
  EXPECT_FALSE(*taken);
  EXPECT_THAT(clues.workloads, IsEmpty());
  EXPECT_THAT(clues.refusals, IsEmpty());
}

TEST(Clues, APodTellsWhileItWaitsOrOfItsDevices) {
  EXPECT_TRUE(pod_clues(R"({"metadata":{"namespace":"x","name":"a"}})")) << "it waits";
  EXPECT_TRUE(pod_clues(R"({"metadata":{"namespace":"x","name":"a"},"spec":{"nodeName":"n",
      "containers":[{},{"requireCuda":"cuda>=12"}]}})"));
  EXPECT_TRUE(pod_clues(R"({"metadata":{"namespace":"x","name":"a"},"spec":{"nodeName":"n",
      "initContainers":[{"visibleDevices":0}]}})"));
  EXPECT_FALSE(pod_clues(R"({"metadata":{"namespace":"x","name":"a"},"spec":{"nodeName":"n",
      "containers":[{"visibleDevices":"0"}]}})"))
      << "no place";
}

TEST(Clues, APodsContainersAreByTheirFields) {
  const auto clues = pod_clues(R"({"metadata":{"namespace":"x","name":"a"},"spec":{
      "containers":[{"resources":{"requests":{"cpu":2,"nvidia.com/gpu":"1"}},
                     "requireCuda":"cuda>=12"},
                    {"resources":{"requests":"odd"},"visibleDevices":3}],
      "initContainers":[{}]}})");
  ASSERT_TRUE(clues && clues->containers.size() == 3U);
  EXPECT_EQ(clues->containers[0].field, "spec.containers[0]");
  EXPECT_THAT(clues->containers[0].requests,
              ElementsAre(Pair("cpu", "2"), Pair("nvidia.com/gpu", "1")));
  EXPECT_EQ(clues->containers[0].require_cuda, "cuda>=12");
  EXPECT_EQ(clues->containers[0].visible_devices, std::nullopt);
  EXPECT_EQ(clues->containers[1].field, "spec.containers[1]");
  EXPECT_THAT(clues->containers[1].requests, IsEmpty());
  EXPECT_EQ(clues->containers[1].visible_devices, 3);
  EXPECT_EQ(clues->containers[2].field, "spec.initContainers[0]");
}

TEST(Clues, TheSchedulerIsHeardWhileItDoesNotPlaceThePod) {
  const auto said = [](const char* status) {
    const std::string item = R"({"metadata":{"namespace":"x","name":"a"},"status":{"conditions":[
        {"type":"PodScheduled","status":")" +
                             std::string(status) +
                             R"(","reason":"Unschedulable","message":"no room"}]}})";
    const auto clues = pod_clues(item.c_str());
    return clues ? clues->scheduler_reason + ": " + clues->scheduler_says : "nothing";
  };
  EXPECT_EQ(said("False"), "Unschedulable: no room");
  EXPECT_EQ(said("True"), ": ");
}

TEST(Clues, WhatCouldNotBeReadComesBackWithAllThatIsKnownOfIt) {
  const Unread pods{.resource = "pods",
                    .namespace_ = "x",
                    .instead = "y",
                    .reason = "Forbidden",
                    .message = "no"};
  Clues clues;
  take_unread(json::array({encode(pods), encode({.resource = "nodes"})}), clues);
  ASSERT_EQ(clues.unread.size(), 2U);
  const Unread* back = clues.find_unread("pods");
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(back->namespace_ + back->instead + back->reason + back->message, "xyForbiddenno");
  EXPECT_FALSE(clues.knows("nodes"));
  EXPECT_TRUE(clues.knows("jobs.batch"));
}

}  // namespace
}  // namespace berth
