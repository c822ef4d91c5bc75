// SPDX-License-Identifier: Apache-2.0
// The answer of `berth why` for a node: its resources, its pool and layout, why it is unavailable,
// and its pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/explain/explain_node.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class NodeWhyTest : public ::testing::Test {
 protected:
  Explanation why(const Node& node, const Clues& clues = no_clues()) {
    cluster_.upsert(node, now_);
    return explain_node(
        {.cluster = cluster_, .answers = answers_, .settings = settings_, .now = now_},
        *cluster_.nodes().find(node.meta.name), clues);
  }
  template <class F>
  void policy(F change) {
    GPUClusterPolicy made;
    made.meta.name = limits::kPolicyName;
    change(made.spec);
    cluster_.upsert(std::move(made), now_);
  }
  static std::vector<std::string> facts(const Explanation& told, const std::string& topic) {
    std::vector<std::string> out;
    for (const Explanation::Fact& fact : told.facts)
      if (fact.topic == topic) out.push_back(fact.message);
    return out;
  }
  static std::string reason_of(const Explanation& told, const std::string& topic) {
    for (const Explanation::Fact& fact : told.facts)
      if (fact.topic == topic) return fact.reason;
    return "no such fact";
  }
  static NodeBuilder n1() { return node("n1").a100_80(4).label("tier", "lab"); }

  Time now_ = *parse_time("2026-11-21T12:10:00Z");
  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
};

TEST_F(NodeWhyTest, OffersAreWithWhatIsHeldOfThem) {
  cluster_.upsert<Pod>(pod("a").gpu(1).on("n1"), now_);
  cluster_.upsert<Pod>(pod("b").gpu(2).on("n1"), now_);
  EXPECT_THAT(facts(why(n1().allocatable("cpu", 9)), "offers"),
              ElementsAre("4 × NVIDIA-A100-SXM4-80GB; nvidia.com/gpu: 4 (3 held)"));
  const Explanation none = why(node("c1").allocatable("cpu", 8));
  EXPECT_THAT(facts(none, "offers"), ElementsAre("no GPU resource is offered"));
  EXPECT_EQ(reason_of(none, "offers"), "NoGPUsOffered");
}

TEST_F(NodeWhyTest, InServiceItIsAsItIs) {
  const Explanation told = why(n1());
  EXPECT_EQ(told.state, "InService");
  EXPECT_EQ(told.reason, "");
  EXPECT_EQ(told.message, "no MIGLayout is at work on it");
  Clues without_layouts;
  without_layouts.unread.push_back({.resource = "miglayouts.gpu.berth.dev", .message = "no"});
  EXPECT_EQ(why(n1(), without_layouts).message,
            "whether a MIGLayout is at work on it is not known");
}

TEST_F(NodeWhyTest, OutOfServiceItSaysWhoKeepsItSo) {
  const Explanation cordoned = why(n1().cordoned());
  EXPECT_EQ(cordoned.state, "OutOfService");
  EXPECT_EQ(cordoned.reason, "Cordoned");
  EXPECT_EQ(cordoned.message,
            "no MIGLayout is at work on it; it takes no pods: cordoned, and not by berth: it stays "
            "so until somebody uncordons it");
  const Explanation away = why(n1().not_ready());
  EXPECT_EQ(away.reason, reasons::kNodeNotReady);
  EXPECT_THAT(away.message, EndsWith("; it takes no pods: it is not Ready"));
  EXPECT_THAT(facts(away, "ready"), ElementsAre("the node is not Ready"));
}

TEST_F(NodeWhyTest, WhoTakesItAwayIsTold) {
  EXPECT_THAT(facts(why(n1()), "others"), IsEmpty());
  const Explanation deleted = why(n1().taint("ToBeDeletedByClusterAutoscaler", "NoSchedule"));
  EXPECT_THAT(facts(deleted, "others"),
              ElementsAre("about to be deleted: taint ToBeDeletedByClusterAutoscaler"));
  EXPECT_EQ(reason_of(deleted, "others"), reasons::kAutoscalerDeleting);
  EXPECT_THAT(
      facts(why(n1().taint("aws-node-termination-handler/rebalance-recommendation", "NoSchedule")),
            "others"),
      ElementsAre("queues begin nothing on it: taint "
                  "aws-node-termination-handler/rebalance-recommendation"));
  const Explanation upgraded = why(n1().label(names::kDriverUpgradeState, "cordon-required"));
  EXPECT_THAT(facts(upgraded, "others"),
              ElementsAre("its driver is being upgraded: "
                          "nvidia.com/gpu-driver-upgrade-state=cordon-required"));
  EXPECT_EQ(reason_of(upgraded, "others"), reasons::kUpgradeInProgress);
  EXPECT_THAT(facts(why(n1().annotation(names::kHoldAnnotation, "rack move")), "hold"),
              ElementsAre("a person keeps berth away by annotation gpu.berth.dev/hold=rack move"));
}

TEST_F(NodeWhyTest, DisruptionIsAllowedInItsWindows) {
  policy([](GPUClusterPolicySpec&) {});
  EXPECT_THAT(facts(why(n1()), "window"), IsEmpty()) << "at any time";
  policy([](GPUClusterPolicySpec& spec) { spec.disruption.windows = {{"0 12 * * *", 1h, "UTC"}}; });
  EXPECT_THAT(facts(why(n1()), "window"),
              ElementsAre("open: disruption is allowed until 2026-11-21T13:00:00Z"));
  EXPECT_EQ(reason_of(why(n1()), "window"), "");
  now_ += 2h;
  EXPECT_THAT(facts(why(n1()), "window"),
              ElementsAre("closed: no disruption is allowed before 2026-11-22T12:00:00Z"));
  EXPECT_EQ(reason_of(why(n1()), "window"), reasons::kDisruptionWindow);
  EXPECT_THAT(facts(why(node("c1")), "window"), IsEmpty()) << "a node without GPUs";
  policy([](GPUClusterPolicySpec& spec) {
    spec.disruption.blackouts = {{"0 14 * * *", 1h, "UTC"}};
  });
  EXPECT_THAT(facts(why(n1()), "window"),
              ElementsAre("closed: no disruption is allowed before 2026-11-21T15:00:00Z"));
}

TEST_F(NodeWhyTest, PodsThatMayNotLeaveAreNamedUpToTen) {
  for (int i = 0; i < 12; ++i)
    cluster_.upsert<Pod>(
        pod("p" + std::to_string(i)).requests("nvidia.com/gpu", 1).on("n1").unmanaged(), now_);
  const std::vector<std::string> drain = facts(why(n1()), "drain");
  ASSERT_EQ(drain.size(), 11U);
  EXPECT_EQ(drain.back(), "and 2 pods more may not be evicted");
  cluster_.erase<Pod>("team-a", "p0");
  cluster_.erase<Pod>("team-a", "p1");
  EXPECT_EQ(facts(why(n1()), "drain").size(), 10U);
}

TEST_F(NodeWhyTest, PodsThatLeaveAreNamedByHow) {
  cluster_.upsert<Pod>(pod("ends").gpu(1).on("n1").terminating(), now_);
  EXPECT_THAT(facts(why(n1()), "drain"), ElementsAre("waited for until it ends: team-a/ends"));
  cluster_.upsert<Pod>(pod("too").gpu(1).on("n1").terminating(), now_);
  cluster_.upsert<Pod>(pod("free").gpu(1).on("n1"), now_);
  EXPECT_THAT(facts(why(n1()), "drain"),
              ElementsAre(HasSubstr("waited for until they end: team-a/"),
                          "would be evicted: team-a/free"));
}

TEST_F(NodeWhyTest, ItsPoolIsToldWithWhatIsStillToBePutThere) {
  EXPECT_THAT(facts(why(n1()), "pool"), IsEmpty());
  EXPECT_THAT(facts(why(n1().label(names::kPoolLabel, "old")), "pool"),
              ElementsAre("labelled gpu.berth.dev/pool=old, but there is no GPUClusterPolicy"));
  policy([](GPUClusterPolicySpec&) {});
  EXPECT_THAT(facts(why(n1()), "pool"), ElementsAre("none: no pool's nodeSelector takes it"));
  NodeBuilder left = n1().label(names::kPoolLabel, "old");
  EXPECT_THAT(facts(why(left), "pool"),
              ElementsAre("none: no pool's nodeSelector takes it; label gpu.berth.dev/pool=old is "
                          "not berth's and stays: remove it there and in the node group's "
                          "template, or let the pool select the node"));
  left.annotation(names::kPoolKeysAnnotation,
                  R"({"pool":"old","labels":{"gpu.berth.dev/pool":"old"},"taints":[]})");
  EXPECT_THAT(facts(why(left), "pool"),
              ElementsAre("none: no pool's nodeSelector takes it; berth removes label "
                          "gpu.berth.dev/pool=old, as far as spec.disruption allows it"));
  policy([](GPUClusterPolicySpec& spec) {
    PoolSpec& pool = spec.pools.emplace_back();
    pool.name = "lab";
    pool.node_selector.match_labels["tier"] = "lab";
    pool.labels.set("owner", "us");
    pool.taints.push_back({"mine", "", "NoSchedule"});
    spec.pools.push_back(pool);
    spec.pools.back().name = "second";
  });
  DaemonSet plugin;
  plugin.meta.namespace_ = settings_.agents_namespace;
  plugin.meta.name = "nvidia-device-plugin-daemonset";
  plugin.meta.labels.set("app", "nvidia-device-plugin-daemonset");
  cluster_.upsert(std::move(plugin), now_);
  EXPECT_THAT(facts(why(node("new").label("tier", "lab")), "pool"),
              Contains("the node shows no GPU yet; berth adds the pool's label once it does"));
  const Explanation told = why(n1().label("owner", "them"));
  EXPECT_THAT(facts(told, "pool"), Contains("lab: its nodeSelector is tier=lab"));
  EXPECT_THAT(facts(told, "pool"),
              Contains("second would take it too; the first in the policy's list has it: narrow a "
                       "nodeSelector"));
  EXPECT_THAT(facts(told, "pool"),
              Contains(HasSubstr("still to be put there: label gpu.berth.dev/pool=lab")));
  EXPECT_THAT(facts(told, "pool"), Contains(HasSubstr("left as somebody else set it: ")));
  EXPECT_THAT(facts(told, "pool"),
              Contains(HasSubstr("held back, since NVIDIA's agents do not tolerate it: taint "
                                 "mine:NoSchedule; ")));
  EXPECT_THAT(facts(why(n1().label("owner", "us")), "pool"),
              Not(Contains(HasSubstr("somebody else"))));
}

}  // namespace
}  // namespace berth::test
