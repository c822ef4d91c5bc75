// SPDX-License-Identifier: Apache-2.0
// The answer of `berth why` for a bound pod: which GPUs it holds, and what happens to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/explain/explain_pod.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class BoundWhy : public ::testing::Test {
 protected:
  BoundWhy() { cluster_.upsert<Node>(node("n1").a100_80(4).label("tier", "lab"), now_); }
  // A policy with pool `lab`, which selects n1.
  template <class F>
  void policy(F change) {
    GPUClusterPolicy made;
    made.meta.name = limits::kPolicyName;
    PoolSpec& pool = made.spec.pools.emplace_back();
    pool.name = "lab";
    pool.node_selector.match_labels["tier"] = "lab";
    change(made.spec);
    cluster_.upsert(std::move(made), now_);
  }
  Explanation why(const Pod& pod, const Clues& clues = no_clues()) {
    cluster_.upsert(pod, now_);
    return explain_pod(snapshot(), *cluster_.pods().find(pod.meta.namespace_.view(), pod.meta.name),
                       clues);
  }
  static std::vector<std::string> facts(const Explanation& told, const std::string& topic) {
    std::vector<std::string> out;
    for (const Explanation::Fact& fact : told.facts)
      if (fact.topic == topic) out.push_back(fact.message);
    return out;
  }
  Snapshot snapshot() const {
    return {.cluster = cluster_, .answers = answers_, .settings = settings_, .now = now_};
  }

  Time now_ = *parse_time("2026-11-21T12:10:00Z");
  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
};

TEST_F(BoundWhy, ItsNodeMayBeGone) {
  const Pod lost = pod("train").gpu(2).on("n9");
  const Explanation told = why(lost);
  EXPECT_EQ(told.reason, reasons::kNodeGone);
  EXPECT_EQ(told.message,
            "it is on n9 and holds nvidia.com/gpu: 2; there is no such node any more");
  Clues without_nodes;
  without_nodes.unread.push_back({.resource = "nodes", .message = "no"});
  const Explanation unsure = why(lost, without_nodes);
  EXPECT_EQ(unsure.reason, "");
  EXPECT_EQ(unsure.message, "it is on n9 and holds nvidia.com/gpu: 2") << "nobody can say";
}

TEST_F(BoundWhy, OnItsWayOutItHoldsWhatItHolds) {
  const Explanation told = why(pod("train").gpu(2).on("n1").terminating());
  EXPECT_EQ(told.state, "Terminating");
  EXPECT_EQ(told.message,
            "it is on its way out of n1; until it is gone it holds nvidia.com/gpu: 2");
}

TEST_F(BoundWhy, ItRunsOrStarts) {
  EXPECT_EQ(why(pod("train").gpu(2).on("n1")).state, "Running");
  EXPECT_EQ(why(pod("train").gpu(2).on("n1").phase(PodPhase::kPending)).state, "Starting");
}

TEST_F(BoundWhy, ThePoolSaysWhetherItsGpusAreSharedAndWhoMayUseThem) {
  const Pod train = pod("train").gpu(1).on("n1");
  EXPECT_TRUE(facts(why(train), "pool").empty()) << "there is no policy";
  policy([](GPUClusterPolicySpec&) {});
  EXPECT_EQ(facts(why(train), "pool"), std::vector<std::string>{"lab"});
  policy([](GPUClusterPolicySpec& spec) {
    spec.pools[0].sharing.strategy = SharingStrategy::kTimeSlicing;
    spec.pools[0].sharing.replicas = 4;
    spec.pools[0].eligible_namespaces.emplace().match_labels["team"] = "lab";
  });
  Namespace team;
  team.meta.name = "team-a";
  cluster_.upsert(team, now_);
  const Explanation told = why(train);
  EXPECT_EQ(told.reason, reasons::kNotEligible);
  EXPECT_THAT(facts(told, "pool"),
              ::testing::ElementsAre(
                  "lab, whose GPUs are shared by 4 pods each (TimeSlicing)",
                  "namespace team-a may not use it: it is for namespaces with team=lab"));
  team.meta.labels.set("team", "lab");
  cluster_.upsert(team, now_);
  EXPECT_EQ(why(train).reason, "");
}

TEST_F(BoundWhy, IdleGpusAreTakenBackAsThePolicySays) {
  Pod idle = pod("train").gpu(1).on("n1");
  EXPECT_TRUE(facts(why(idle), "idle").empty());
  idle.meta.annotations.set(names::kIdleSinceAnnotation, "2026-11-21T10:00:00Z");
  EXPECT_THAT(facts(why(idle), "idle"),
              Contains("its GPUs have been idle since 2026-11-21T10:00:00Z"));
  idle.meta.annotations.set(names::kReclaimAfterAnnotation, "2026-11-21T13:00:00Z");
  EXPECT_THAT(facts(why(idle), "idle"), Not(Contains(HasSubstr("taken back")))) << "no policy";
  policy([](GPUClusterPolicySpec& spec) { spec.idle.policy = IdlePolicy::kAlways; });
  EXPECT_THAT(facts(why(idle), "idle"),
              Contains(EndsWith("; they are taken back at 2026-11-21T13:00:00Z")));
  policy([](GPUClusterPolicySpec& spec) { spec.idle.policy = IdlePolicy::kOnPressure; });
  EXPECT_THAT(facts(why(idle), "idle"),
              Contains(EndsWith(
                  "; from 2026-11-21T13:00:00Z on they may be taken back for work that waits")));
}

TEST_F(BoundWhy, ATaintThatItDoesNotTolerateIsToldUnlessKubernetesSetIt) {
  const Pod train = pod("train").gpu(1).on("n1");
  policy([](GPUClusterPolicySpec&) {});
  const auto tainted = [&](const char* key) {
    cluster_.upsert<Node>(node("n1").a100_80(4).label("tier", "lab").taint(key, "NoSchedule"),
                          now_);
    return facts(why(train), "taint");
  };
  EXPECT_THAT(tainted("mine"),
              Contains("does not tolerate mine:NoSchedule: it stays, but would not be placed there "
                       "again"));
  EXPECT_TRUE(tainted("node.kubernetes.io/unschedulable").empty());
}

TEST_F(BoundWhy, ALayoutThatIsToRecutItsNodeEvictsIt) {
  const Pod train = pod("train").gpu(1).on("n1");
  EXPECT_TRUE(facts(why(train), "drain").empty());
  cluster_.upsert<Node>(node("n1").a100_80(4).label("tier", "mig"), now_);
  cluster_.upsert<MIGLayout>(layout("mixed"), now_);
  const Explanation told = why(train);
  EXPECT_THAT(facts(told, "rollout"), Contains(HasSubstr("MIGLayout/mixed will repartition n1: ")));
  EXPECT_EQ(facts(told, "drain").size(), 1U);
}

}  // namespace
}  // namespace berth::test
