// SPDX-License-Identifier: Apache-2.0
// What the page tells somebody who may list some of a cluster and not the rest: the rest is
// counted, and named nowhere, whatever rights he has and whatever he asks about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "controller/disruption/rollout_annotation.h"
#include "controller/page/page_why.h"
#include "tests/page/viewed_fixture.h"

namespace berth {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(ViewerRights, WhatWasNotGrantedIsDenied) {
  ViewerRights rights;
  EXPECT_FALSE(rights.in("pods", "a"));
  rights.grant("pods", "a");
  EXPECT_TRUE(rights.in("pods", "a"));
  EXPECT_FALSE(rights.in("pods", "b"));
  EXPECT_FALSE(rights.in("pods", ""));
  EXPECT_FALSE(rights.in("jobs.batch", "a"));
  EXPECT_FALSE(rights.everywhere("pods"));
  EXPECT_EQ(rights.only_namespace("pods"), "a");
  rights.grant("pods", "b");
  EXPECT_EQ(rights.only_namespace("pods"), "");
  rights.grant("nodes");
  rights.grant("nodes", "a");
  EXPECT_TRUE(rights.in("nodes", ""));
  EXPECT_EQ(rights.only_namespace("nodes"), "") << "everywhere";
  rights.grant("jobs.batch");
  EXPECT_TRUE(rights.in("jobs.batch", "any"));
}

TEST(ViewerRights, ResourcesAreCalledAsRBACCallsThem) {
  EXPECT_EQ(resource_name(kKind<Pod>), "pods");
  EXPECT_EQ(resource_name(kKind<Job>), "jobs.batch");
  EXPECT_EQ(resource_name(kKind<GPUQueue>), "gpuqueues.gpu.berth.dev");
}

TEST_F(Viewed, WhoMayListEverythingSeesWhatTheKubeconfigsOwnerSees) {
  add(node("n1"));
  add(pod("team-a", "train", "n1", 2)), add(pod("team-b", "waits", "", 16));
  EXPECT_EQ(page_state(snapshot(), everything()), page_state(snapshot(), no_clues()));
}

TEST_F(Viewed, WhoMayListNothingSeesNothing) {
  add(node("n1"));
  add(pod("team-a", "train", "n1", 2));
  add(queue::queue_of("research-queue", 8));
  const json seen = seen_by({});
  for (const char* kind : {"nodes", "queues", "layouts", "waiting"})
    EXPECT_TRUE(seen[kind].empty()) << seen[kind];
  for (const char* table : {"pools", "costs", "poolCosts"})
    EXPECT_TRUE(seen[table]["rows"].empty()) << seen[table];
}

TEST_F(Viewed, ATenantSeesHisOwnByNameAndOthersAsCounts) {
  add(node("n1"));
  add(pod("team-a", "mine", "n1", 2)), add(pod("team-b", "secret", "n1", 3));
  add(pod("team-c", "hidden", "n1", 1)), add(pod("team-b", "waits", "", 16));
  add(pod("team-a", "wants", "", 16));
  const json seen = seen_by(tenant("team-a"));
  EXPECT_EQ(seen["nodes"]["n1"]["parts"], json::parse(R"([{"resource": "nvidia.com/gpu",
      "offered": 8, "units": 8, "held": [["team-a", "mine", 2]], "others": 4}])"));
  ASSERT_EQ(seen["waiting"].size(), 1u) << seen["waiting"];
  EXPECT_TRUE(seen["waiting"].contains("Pod/team-a/wants"));
  EXPECT_EQ(seen["pools"], json::parse(print_json(page_state(snapshot(), no_clues())))["pools"])
      << "what all hold of a pool is a sum";
}

TEST_F(Viewed, MeasuredGPUsOfOthersAreHeldByNobodyInParticular) {
  add(node("n1"));
  add(pod("team-a", "mine", "n1", 1)), add(pod("team-b", "secret", "n1", 1));
  samples.nodes["n1"] = {
      {.uuid = "g0", .index = "0", .holders = {{"team-a", "mine"}}, .activity = 0.5f, .seen = now},
      {.uuid = "g1",
       .index = "1",
       .holders = {{"team-b", "secret"}},
       .activity = 1.0f,
       .seen = now}};
  EXPECT_EQ(seen_by(tenant("team-a"))["nodes"]["n1"]["seen"],
            json::parse(R"([{"gpu": "0", "busy": 50, "held": [["team-a", "mine"]]},
                            {"gpu": "1", "busy": 100, "others": 1}])"));
}

TEST_F(Viewed, OfAQueueATenantSeesHisPlacesAndHowManyWait) {
  GPUQueue queue = queue::queue_of("shared", 8);
  queue.status.totals.pending = 3;
  queue.status.pending = {{.workload = "team-b/secret", .position = 1, .message = "large"},
                          {.workload = "team-a/mine", .position = 2, .message = "behind secret"},
                          {.workload = "Job/team-b/hidden", .position = 3}};
  queue.status.conditions = {
      {.type = "Ready", .status = "False", .reason = "Waits", .message = "for team-b/secret"}};
  add(queue);
  const json seen = seen_by(tenant("team-a"))["queues"]["shared"];
  EXPECT_EQ(seen["waits"], 3);
  ASSERT_EQ(seen["pending"].size(), 1u) << seen;
  EXPECT_EQ(seen["pending"][0]["workload"], "team-a/mine");
  EXPECT_EQ(seen["pending"][0]["position"], 2);
  EXPECT_EQ(seen["ready"]["reason"], "Waits");
  EXPECT_THAT(seen.dump(), Not(HasSubstr("secret")));
}

TEST_F(Viewed, OfHisOwnWorkATenantIsToldWhyItWaitsAsFarAsThatNamesNobody) {
  add(queue::namespace_of("team-a", "shared")), add(queue::namespace_of("team-b", "other"));
  GPUQueue queue = queue::queue_of("shared", 8);
  queue.status.totals.pending = 5;
  queue.status.pending = {
      {.workload = "team-a/large",
       .position = 4,
       .reason = "WaitingForRoom",
       .message = "needs 8; Pod/team-b/secret can't be taken back: Pod/team-a/x"},
      {.workload = "team-a/after",
       .position = 5,
       .reason = "BehindInQueue",
       .message = "Job/team-a/short is before it"},
      {.workload = "team-a/short",
       .position = 1,
       .reason = "WaitingForQuota",
       .message = "needs 4"},
      {.workload = "team-a/kept",
       .position = 2,
       .reason = "Reserved",
       .message = "kept for Job/team-b/secret"},
      {.workload = "team-b/hidden", .position = 3, .reason = "WaitingForQuota"}};
  add(queue);
  add(queue::job_of("team-a", "short", 4)), add(queue::job_of("team-a", "kept", 4));
  add(queue::job_of("team-b", "hidden", 4));
  ViewerRights rights = tenant("team-a");
  rights.grant("namespaces");
  const json seen = seen_by(rights);
  std::vector<std::string> messages;
  for (const json& pending : seen["queues"]["shared"]["pending"])
    messages.push_back(pending["message"].get<std::string>());
  EXPECT_THAT(messages,
              testing::ElementsAre("needs 8", "Job/team-a/short is before it", "needs 4", ""));
  ASSERT_EQ(seen["waiting"].size(), 2u) << seen["waiting"];
  EXPECT_EQ(seen["waiting"]["Job/team-a/short"]["message"],
            "it is suspended, and waits in queue shared: needs 4");
  EXPECT_EQ(seen["waiting"]["Job/team-a/kept"]["message"],
            "it is suspended, and waits in queue shared");
  EXPECT_EQ(seen["waiting"]["Job/team-a/kept"]["reason"], "Reserved");
  EXPECT_EQ(seen["waitingOf"], "some");
  EXPECT_THAT(seen.dump(), Not(testing::AnyOf(HasSubstr("secret"), HasSubstr("hidden"))));
  EXPECT_EQ(seen_by(everything())["waitingOf"], "all");
  EXPECT_EQ(seen_by({})["waitingOf"], "none");
}

TEST_F(Viewed, ARolloutKeepsItsReasonsAndLosesTheWordsThatNameOthers) {
  Node n1 = node("n1");
  n1.meta.annotations.set(names::kRolloutAnnotation,
                          encode_rollout({.node_uid = "n1",
                                          .layout = "mixed",
                                          .phase = RolloutPhase::kFailed,
                                          .since = now,
                                          .why = "team-b/secret would not go"}));
  add(n1);
  MIGLayout layout;
  layout.meta.name = layout.meta.uid = "mixed";
  layout.status.details = {{.node = "n1",
                            .phase = "Draining",
                            .reason = "PodBlocks",
                            .message = "team-b/secret is protected"}};
  add(layout);
  const json seen = seen_by(tenant("team-a"));
  EXPECT_EQ(seen["nodes"]["n1"]["rollout"]["phase"], "Failed");
  EXPECT_EQ(seen["layouts"]["mixed"]["details"][0]["reason"], "PodBlocks");
  EXPECT_THAT(seen.dump(), Not(HasSubstr("secret")));
  EXPECT_THAT(seen_by(everything()).dump(), HasSubstr("team-b/secret is protected"));
}

// Who sees all that may be named needs no words cut, though he may not read everything.
TEST_F(Viewed, WhoSeesAllWorkIsToldEveryWord) {
  Node n1 = node("n1");
  n1.meta.annotations.set(names::kRolloutAnnotation, encode_rollout({.node_uid = "n1",
                                                                     .layout = "mixed",
                                                                     .phase = RolloutPhase::kFailed,
                                                                     .since = now,
                                                                     .why = "of the node"}));
  add(n1);
  MIGLayout layout;
  layout.meta.name = layout.meta.uid = "mixed";
  layout.status.details = {{.node = "n1", .phase = "Draining", .message = "of the layout"}};
  layout.status.conditions = {{.type = "Ready", .status = "False", .message = "of its state"}};
  add(layout);
  GPUQueue queue = queue::queue_of("shared", 8);
  queue.status.pending = {{.workload = "team-b/b", .position = 1, .message = "of the queue"}};
  add(queue);
  ViewerRights rights;
  for (const char* resource :
       {"nodes", "miglayouts.gpu.berth.dev", "gpuqueues.gpu.berth.dev", "pods", "jobs.batch"})
    rights.grant(resource);
  const std::string all = seen_by(rights).dump();
  for (const char* words : {"of the node", "of the layout", "of its state", "of the queue"})
    EXPECT_THAT(all, HasSubstr(words));

  ViewerRights no_jobs;
  for (const char* resource :
       {"nodes", "miglayouts.gpu.berth.dev", "gpuqueues.gpu.berth.dev", "pods"})
    no_jobs.grant(resource);
  const std::string some = seen_by(no_jobs).dump();
  for (const char* words : {"of the node", "of the layout", "of its state", "of the queue"})
    EXPECT_THAT(some, Not(HasSubstr(words))) << "a Job's name may be among them";
}

// Berth wrote it or somebody else did: what it names nobody knows.
TEST_F(Viewed, ARolloutsTextThatCannotBeReadIsKeptFromWhoeverSeesNotAllWork) {
  const auto shown_to = [&](const ViewerRights& rights) {
    const Snapshot all = snapshot();
    const ViewedCluster viewed(all, rights);
    const Snapshot seen = viewed.snapshot();
    return std::string(
        seen.cluster.nodes().find("n1")->meta.annotations.get(names::kRolloutAnnotation).view());
  };
  Node n1 = node("n1");
  n1.meta.annotations.set(names::kRolloutAnnotation, "waits for team-b/secret");
  n1.meta.annotations.set("example.com/rack", "7");
  add(n1);
  EXPECT_EQ(shown_to(tenant("team-a")), "");
  const Snapshot all = snapshot();
  EXPECT_EQ(ViewedCluster(all, tenant("team-a"))
                .snapshot()
                .cluster.nodes()
                .find("n1")
                ->meta.annotations.get("example.com/rack"),
            Text("7"))
      << "the others stay";
  ViewerRights all_work = tenant("team-a");
  for (const char* resource : {"pods", "jobs.batch"}) all_work.grant(resource);
  EXPECT_EQ(shown_to(all_work), "waits for team-b/secret");
}

TEST_F(Viewed, LayoutsTellNothingOfNodesThatHeMayNotList) {
  MIGLayout layout;
  layout.meta.name = layout.meta.uid = "mixed";
  layout.status.details = {{.node = "n1", .phase = "Draining"}};
  add(layout);
  ViewerRights rights = tenant("team-a");
  EXPECT_EQ(seen_by(rights)["layouts"]["mixed"]["details"].size(), 1u);
  rights = {};
  rights.grant("miglayouts.gpu.berth.dev");
  EXPECT_TRUE(seen_by(rights)["layouts"]["mixed"]["details"].empty());
}

TEST_F(Viewed, SamplesAreOfTheNodesAndPodsThatHeMayList) {
  add(node("n1"));
  add(pod("team-a", "mine", "n1", 1));
  samples.nodes["n1"] = {{.uuid = "g0", .holders = {{"team-a", "mine"}, {"team-b", "secret"}}}};
  samples.nodes["gone"] = {{.uuid = "g1"}};
  samples.trouble = Cause{"Unreachable", "on node n9"};
  const Snapshot all = snapshot();
  const ViewedCluster viewed(all, tenant("team-a"));
  const Snapshot seen = viewed.snapshot();
  EXPECT_EQ(seen.samples.nodes.size(), 1u);
  ASSERT_EQ(seen.samples.nodes.at("n1")[0].holders.size(), 1u);
  EXPECT_EQ(seen.samples.nodes.at("n1")[0].holders[0].pod, Text("mine"));
  EXPECT_FALSE(seen.samples.trouble.has_value());
}

TEST_F(Viewed, WhatHeCouldNotReadIsToldWithWhereHeCould) {
  const Snapshot all = snapshot();
  const ViewedCluster viewed(all, tenant("team-a"));
  const Unread* pods = viewed.clues().find_unread("pods");
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(pods->instead, "team-a");
  EXPECT_EQ(pods->reason, "Forbidden");
  EXPECT_TRUE(viewed.clues().knows("nodes"));
}

// Of the kinds that berth reads in its own namespaces alone, those are all there is to list.
TEST_F(Viewed, TheLedgersAreReadWhereTheyStand) {
  const Snapshot all = snapshot();
  ViewerRights rights;
  rights.grant("configmaps", settings.agents_namespace);
  const auto knows = [&] { return ViewedCluster(all, rights).clues().knows("configmaps"); };
  EXPECT_FALSE(knows()) << "of one of the two";
  rights.grant("configmaps", settings.berth_namespace);
  EXPECT_TRUE(knows());
}

TEST_F(Viewed, WhyKnowsOfNothingThatHeMayNotList) {
  add(node("n1"));
  add(pod("team-a", "mine", "", 16)), add(pod("team-b", "secret", "n1", 8));
  const ViewerRights rights = tenant("team-a");
  EXPECT_TRUE(page_why(snapshot(), rights, "pod/team-a/mine").has_value());
  const auto there = page_why(snapshot(), rights, "pod/team-b/secret");
  const auto nowhere = page_why(snapshot(), rights, "pod/team-b/absent");
  ASSERT_FALSE(there.has_value());
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(there.error().kind, nowhere.error().kind);
  EXPECT_THAT(nowhere.error().message, Not(HasSubstr("secret")));
  const auto of_node = page_why(snapshot(), rights, "node/n1");
  ASSERT_TRUE(of_node.has_value()) << of_node.error().message;
  EXPECT_THAT(*of_node, Not(HasSubstr("secret")));
  EXPECT_THAT(*of_node, Not(HasSubstr("team-b")));
  EXPECT_TRUE(page_why(snapshot(), everything(), "pod/team-b/secret").has_value());
}

}  // namespace
}  // namespace berth
