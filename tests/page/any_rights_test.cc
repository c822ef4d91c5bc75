// SPDX-License-Identifier: Apache-2.0
// Random clusters and random rights: what nobody granted is named nowhere, and sums stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>

#include "controller/disruption/rollout_annotation.h"
#include "controller/page/page_why.h"
#include "tests/page/viewed_fixture.h"

namespace berth {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

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
