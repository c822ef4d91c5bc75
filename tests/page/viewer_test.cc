// SPDX-License-Identifier: Apache-2.0
// What the page tells somebody who may list some of a cluster and not the rest: the rest is
// counted, and named nowhere, whatever rights he has and whatever he asks about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "apis/names.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/page/page_state.h"
#include "controller/page/page_why.h"
#include "controller/page/viewed_cluster.h"
#include "tests/queue/queue_objects.h"

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

class Viewed : public ::testing::Test {
 protected:
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  static Node node(const std::string& name) {
    Node made = queue::node_of(name, 8);
    made.meta.labels.set("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB");
    made.meta.labels.set("nvidia.com/gpu.count", "8");
    made.meta.labels.set(names::kPoolLabel, "training");
    return made;
  }
  static Pod pod(const std::string& ns, const std::string& name, const std::string& on, int gpus) {
    Pod made;
    made.meta.namespace_ = ns;
    made.meta.name = name;
    made.meta.uid = ns + "/" + name;
    made.node_name = on;
    made.phase = on.empty() ? PodPhase::kPending : PodPhase::kRunning;
    made.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
    return made;
  }
  Snapshot snapshot() const {
    return {.cluster = cluster,
            .answers = answers,
            .settings = settings,
            .now = now,
            .offline = true,
            .samples = samples};
  }
  json seen_by(const ViewerRights& rights) const {
    return json::parse(print_json(page_state(snapshot(), rights)));
  }
  static ViewerRights everything() {
    ViewerRights rights;
    Watched::each([&]<class T>() { rights.grant(resource_name(kKind<T>)); });
    return rights;
  }
  // Of a tenant who has `view` in his namespace and may list what is the cluster's.
  static ViewerRights tenant(const std::string& ns) {
    ViewerRights rights;
    for (const char* resource : {"nodes", "miglayouts.gpu.berth.dev", "gpuqueues.gpu.berth.dev"})
      rights.grant(resource);
    for (const char* resource : {"pods", "jobs.batch"}) rights.grant(resource, ns);
    return rights;
  }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Samples samples;
  Time now = *parse_time("2026-11-21T12:00:00Z");
};

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

// A cluster in which each name is like no other text, and in which everything that berth writes
// names others: whatever of it is told can be searched for.
class AnyRights : public Viewed {
 protected:
  static std::string name(const char* what, int i) {
    return what + ("-q" + std::to_string(i) + "q");
  }
  int any(int below) { return std::uniform_int_distribution<int>(0, below - 1)(dice_); }
  std::string any_pod() { return name("team", any(kTeams)) + "/" + name("pod", any(kPods)); }

  void fill() {
    for (int i = 0; i < kTeams; ++i) add(queue::namespace_of(name("team", i), name("label", i)));
    for (int i = 0; i < kNodes; ++i) {
      Node made = node(name("node", i));
      made.unschedulable = any(3) == 0;
      if (any(2) == 0)
        made.meta.annotations.set(
            names::kRolloutAnnotation,
            encode_rollout({.node_uid = made.meta.uid,
                            .phase = any(2) == 0 ? RolloutPhase::kFailed : RolloutPhase::kIdle,
                            .since = now,
                            .why = any_pod() + " holds it"}));
      samples.nodes[made.meta.name] = {
          {.uuid = "g0",
           .index = "0",
           .holders = {{name("team", any(kTeams)), name("pod", any(kPods))}},
           .activity = 0.5f,
           .seen = now}};
      add(made);
    }
    samples.interval = std::chrono::minutes(1);
    for (int i = 0; i < kPods; ++i) {
      const std::string ns = name("team", i % kTeams);
      add(pod(ns, name("pod", i), any(3) == 0 ? "" : name("node", any(kNodes)), 1 + any(8)));
      add(queue::job_of(ns, name("job", i), 1 + any(16)));
      PodDisruptionBudget budget;
      budget.meta.namespace_ = ns;
      budget.meta.name = budget.meta.uid = name("budget", i);
      budget.selector.emplace();
      add(budget);
      ResourceQuota quota;
      quota.meta.namespace_ = ns;
      quota.meta.name = quota.meta.uid = name("quota", i);
      add(quota);
    }
    for (int i = 0; i < 2; ++i) {
      GPUQueue made = queue::queue_of(name("queue", i), 8);
      made.spec.namespace_selector->match_labels["team"] = name("label", i);
      made.spec.cohort_name = name("cohort", i);
      for (int at = 0; at < kPods; ++at)
        made.status.pending.push_back(
            {.workload = name("team", at % kTeams) + "/" + name("job", at),
             .position = at + 1,
             .reason = "Waits",
             .message = "behind " + any_pod()});
      made.status.conditions = {
          {.type = "Ready", .status = "False", .reason = "Waits", .message = any_pod()}};
      add(made);
      MIGLayout layout;
      layout.meta.name = layout.meta.uid = name("layout", i);
      layout.status.details = {{.node = name("node", any(kNodes)),
                                .phase = "Draining",
                                .reason = "PodBlocks",
                                .message = any_pod() + " on " + name("node", any(kNodes))}};
      layout.status.conditions = {
          {.type = "Ready", .status = "False", .reason = "Waits", .message = any_pod()}};
      add(layout);
    }
  }

  ViewerRights any_rights() {
    ViewerRights rights;
    const int generosity = 1 + any(4);
    Watched::each([&]<class T>() {
      const std::string resource = resource_name(kKind<T>);
      if (any(5) < generosity - 1) rights.grant(resource);
      if (!kKind<T>.namespaced) return;
      for (int team = 0; team < kTeams; ++team)
        if (any(5) < generosity) rights.grant(resource, name("team", team));
    });
    return rights;
  }

  // Names of what he may not list, unless something that he may list names it: a pod its node, and
  // each object its namespace.
  std::set<std::string> forbidden(const ViewerRights& rights) {
    std::set<std::string> all, known;
    Watched::each([&]<class T>() {
      for (const auto& object : cluster.store<T>()) {
        const std::string ns = object->meta.namespace_.str();
        all.insert(object->meta.name);
        if (!ns.empty()) all.insert(ns);
        if (!rights.in(resource_name(kKind<T>), ns)) continue;
        known.insert({object->meta.name, ns});
        if constexpr (std::is_same_v<T, Pod>) known.insert(object->node_name.str());
      }
    });
    std::set<std::string> out;
    for (const std::string& one : all)
      if (!known.contains(one)) out.insert(one);
    return out;
  }

  static constexpr int kTeams = 5, kNodes = 4, kPods = 15;
  std::mt19937 dice_{20261125};
};

TEST_F(AnyRights, NoNameThatHeMayNotListIsInWhatHeIsTold) {
  int names = 0;
  for (int round = 0; round < 40; ++round) {
    cluster = ClusterState();
    samples = Samples();
    fill();
    const ViewerRights rights = any_rights();
    const std::set<std::string> hidden = forbidden(rights);
    names += static_cast<int>(hidden.size());
    const auto expect_silent = [&](const std::string& told, const std::string& asked) {
      for (const std::string& one : hidden) {
        if (asked.find(one) != std::string::npos) continue;
        ASSERT_THAT(told, Not(HasSubstr(one))) << "round " << round << ", asked " << asked;
      }
    };
    expect_silent(print_json(page_state(snapshot(), rights)), "");
    const auto ask = [&](const std::string& subject) {
      const auto said = page_why(snapshot(), rights, subject);
      expect_silent(said ? *said : said.error().message, subject);
    };
    for (const auto& pod : cluster.pods())
      ask("pod/" + pod->meta.namespace_.str() + "/" + pod->meta.name);
    for (const auto& job : cluster.jobs())
      ask("job/" + job->meta.namespace_.str() + "/" + job->meta.name);
    for (const auto& node : cluster.nodes()) ask("node/" + node->meta.name);
    for (const auto& layout : cluster.mig_layouts()) ask("miglayout/" + layout->meta.name);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(names, 500) << "and there was something to be kept";
}

TEST_F(AnyRights, WhatIsHeldAddsUpWhoeverLooks) {
  const auto held_of = [](const json& nodes) {
    std::map<std::string, std::int64_t> sums;
    for (const auto& [name, node] : nodes.items())
      for (const json& part : node["parts"]) {
        std::int64_t& sum = sums[name];
        sum += part.value("others", 0);
        for (const json& holder : part["held"]) sum += holder[2].get<std::int64_t>();
      }
    return sums;
  };
  for (int round = 0; round < 20; ++round) {
    cluster = ClusterState();
    samples = Samples();
    fill();
    ViewerRights rights = any_rights();
    rights.grant("nodes");
    EXPECT_EQ(held_of(seen_by(rights)["nodes"]), held_of(seen_by(everything())["nodes"]));
  }
}

}  // namespace
}  // namespace berth
