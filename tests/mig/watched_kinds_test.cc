// SPDX-License-Identifier: Apache-2.0
// Which keys of layouts and nodes each watched kind makes due when it is created, changed or
// deleted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/slots.h"
#include "controller/mig/watch_keys.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Strings = std::vector<std::string>;

// Layouts small (tier mig) and other; n1 is in a rollout of small, n2 belongs to small, plain to
// none.
struct WatchedKinds : ::testing::Test {
  WatchedKinds() {
    cluster.upsert<MIGLayout>(layout("small"), {});
    cluster.upsert<MIGLayout>(layout("other").with([](MIGLayoutSpec& spec) {
      spec.node_selector = LabelSelector{{{"tier", "other"}}, {}};
    }),
                              {});
    cluster.upsert<Node>(with_record("n1", "small", RolloutPhase::kCordoned), {});
    cluster.upsert<Node>(n2(), {});
    cluster.upsert<Node>(node("plain"), {});
  }
  static NodeBuilder n2() { return node("n2").a100_80(4).label("tier", "mig"); }
  static Node with_record(const char* name, const char* of, RolloutPhase phase) {
    NodeRollout rollout;
    rollout.phase = phase;
    rollout.layout = of;
    return node(name)
        .a100_80(4)
        .label("tier", "mig")
        .annotation(names::kRolloutAnnotation, encode_rollout(rollout));
  }
  ConfigMap map(const std::string& namespace_, const std::string& name) {
    ConfigMap made;
    made.meta.namespace_ = namespace_;
    made.meta.name = name;
    return made;
  }
  template <class T>
  Strings changed(const std::optional<T>& old, const std::optional<T>& now) {
    return mig_keys_for(cluster, settings, old ? &*old : nullptr, now ? &*now : nullptr);
  }
  template <class T>
  Strings comes(const T& now) {
    return mig_keys_for(cluster, settings, static_cast<const T*>(nullptr), &now);
  }
  template <class T>
  Strings goes(const T& old) {
    return mig_keys_for(cluster, settings, &old, static_cast<const T*>(nullptr));
  }
  ClusterState cluster;
  Settings settings;
  const Strings layouts{"layout/other", "layout/small"};
  const Strings layouts_and_nodes_under_way{"layout/other", "layout/small", "node/n1"};
  const Strings with_file{"agent-config", "layout/other", "layout/small", "node/n1"};
};

TEST_F(WatchedKinds, ALayoutThatComesGoesOrIsMarkedMovesAll) {
  const MIGLayout small = layout("small");
  EXPECT_EQ(comes(small), with_file);
  EXPECT_THAT(
      goes<MIGLayout>(layout("gone")),
      ElementsAre("agent-config", "layout/gone", "layout/other", "layout/small", "node/n1"));
  MIGLayout going = small;
  going.meta.deletion_timestamp = Time{};
  EXPECT_EQ(changed<MIGLayout>(small, going), with_file);
}

TEST_F(WatchedKinds, ANodeThatComesOrGoesMovesEveryLayoutAndTheAgentsFile) {
  const Strings all{"agent-config", "layout/other", "layout/small", "node/n2"};
  EXPECT_EQ(comes<Node>(n2()), all);
  EXPECT_EQ(goes<Node>(n2()), all);
}

TEST_F(WatchedKinds, ANodeMovesEveryLayoutOnceItServesOtherwise) {
  const Strings all{"layout/other", "layout/small", "node/n2"};
  EXPECT_EQ(changed<Node>(n2(), n2().not_ready()), all);
  EXPECT_EQ(changed<Node>(n2(), n2().cordoned()), all);
  EXPECT_EQ(changed<Node>(n2(), n2().allocatable("nvidia.com/gpu", 3)), all);
  EXPECT_THAT(changed<Node>(n2(), n2().taint("a", "NoSchedule")),
              ElementsAre("layout/small", "node/n2"));
  EXPECT_THAT(changed<Node>(node("plain"), node("plain").label("a", "b")),
              ElementsAre("node/plain"));
}

TEST_F(WatchedKinds, ANodeMovesTheLayoutThatTookItThoughThatSelectsItNoMore) {
  const Node back = with_record("n2", "former", RolloutPhase::kIdle);
  EXPECT_THAT(changed<Node>(back, back), ElementsAre("layout/former", "layout/small", "node/n2"));
  const Node nobodys = with_record("n2", "", RolloutPhase::kIdle);
  EXPECT_THAT(changed<Node>(nobodys, nobodys), ElementsAre("layout/small", "node/n2"));
}

TEST_F(WatchedKinds, ANodeMovesTheLedgerWhileItIsOnItsWayOrHasAnEntry) {
  const Node out = with_record("n2", "small", RolloutPhase::kCordoned);
  const Node back = with_record("n2", "small", RolloutPhase::kIdle);
  EXPECT_THAT(changed<Node>(out, back), ElementsAre("layout/small", "node/n2", "slots"));
  EXPECT_THAT(changed<Node>(back, out), ElementsAre("layout/small", "node/n2", "slots"));
  EXPECT_THAT(changed<Node>(back, back), ElementsAre("layout/small", "node/n2"));
  ConfigMap ledger = map(settings.berth_namespace, names::kSlotsConfigMap);
  ledger.data["n2"] = "x";
  cluster.upsert(ledger, {});
  EXPECT_THAT(changed<Node>(back, back), ElementsAre("layout/small", "node/n2", "slots"));
  EXPECT_THAT(changed<Node>(node("plain"), node("plain")), ElementsAre("node/plain"));
}

TEST_F(WatchedKinds, APodMovesWhoeverLooksAtItsNode) {
  const Pod gpu = pod("p").gpu(1).on("n2"), cpu = pod("p").on("n2");
  EXPECT_THAT(changed<Pod>(gpu, gpu), ElementsAre("layout/small"));
  EXPECT_THAT(changed<Pod>(cpu, cpu), IsEmpty());
  EXPECT_THAT(comes<Pod>(pod("p").on("n1")), ElementsAre("node/n1"))
      << "it may be in the way there";
  EXPECT_THAT(comes<Pod>(pod("p").gpu(1).on("plain")), IsEmpty());
  cluster.upsert<MIGLayout>(
      layout("small").with([](MIGLayoutSpec& spec) { spec.drain.scope = DrainScope::kAllPods; }),
      {});
  EXPECT_THAT(changed<Pod>(cpu, cpu), ElementsAre("layout/small"));
  EXPECT_THAT(comes<Pod>(pod("p").on("plain")), IsEmpty());
}

TEST_F(WatchedKinds, AGpuPodThatLeavesItsNodeMovesEveryLayoutForItMayHaveKeptAProvider) {
  const Pod gpu = pod("p").gpu(1).on("plain");
  EXPECT_EQ(goes(gpu), layouts);
  EXPECT_EQ(changed<Pod>(gpu, pod("p").gpu(1).on("plain").terminating()), layouts);
  for (const PodPhase phase : {PodPhase::kSucceeded, PodPhase::kFailed})
    EXPECT_EQ(changed<Pod>(gpu, pod("p").gpu(1).on("plain").phase(phase)), layouts);
  EXPECT_THAT(changed<Pod>(gpu, gpu), IsEmpty());
  EXPECT_THAT(goes<Pod>(pod("p").gpu(1)), IsEmpty()) << "one that was never bound";
  EXPECT_THAT(goes<Pod>(pod("p").on("plain")), IsEmpty()) << "one without a GPU";
}

TEST_F(WatchedKinds, AJobMovesThemByWhatDecidesWhetherItsPodsMayLeave) {
  const Job old = job("train", 3, 1);
  EXPECT_EQ(comes(old), layouts_and_nodes_under_way);
  EXPECT_EQ(goes(old), layouts_and_nodes_under_way);
  Job patient = old, told = old;
  patient.ignores_disruptions = true;
  told.active = 3;
  EXPECT_EQ(changed<Job>(old, job("train", 4, 1)), layouts_and_nodes_under_way);
  EXPECT_EQ(changed<Job>(old, job("train", 3, 2)), layouts_and_nodes_under_way);
  EXPECT_EQ(changed<Job>(old, patient), layouts_and_nodes_under_way);
  EXPECT_THAT(changed<Job>(old, told), IsEmpty());
}

TEST_F(WatchedKinds, BudgetsAndNvidiasAgentsMoveThemAll) {
  EXPECT_EQ(comes(budget("web", "app", "web", 1)), layouts_and_nodes_under_way);
  EXPECT_EQ(comes(DaemonSet()), layouts_and_nodes_under_way);
  EXPECT_EQ(comes(ClusterPolicy()), with_file);
}

TEST_F(WatchedKinds, TheGpuPolicyMovesLayoutsByItsSpec) {
  GPUClusterPolicy old;
  old.meta.name = "cluster";
  GPUClusterPolicy told = old, edited = old, marked = old;
  told.status.observed_generation = 1;
  edited.spec.disruption.max_unavailable = {7, false};
  marked.meta.deletion_timestamp = Time{};
  EXPECT_EQ(comes(old), layouts);
  EXPECT_EQ(goes(old), layouts);
  EXPECT_EQ(changed<GPUClusterPolicy>(old, edited), layouts);
  EXPECT_EQ(changed<GPUClusterPolicy>(old, marked), layouts);
  EXPECT_THAT(changed<GPUClusterPolicy>(old, told), IsEmpty());
}

TEST_F(WatchedKinds, AConfigMapMovesThemByWhatItHolds) {
  ConfigMap ledger = map(settings.berth_namespace, names::kSlotsConfigMap);
  EXPECT_THAT(goes(ledger), ElementsAre("layout/other", "layout/small", "slots"));
  ledger.data["n2"] = encode_slot({"u", "MIGLayout/small", 1, 1, {}});
  EXPECT_THAT(comes(ledger), ElementsAre("layout/other", "layout/small", "node/n2", "slots"));
  EXPECT_THAT(goes(ledger), ElementsAre("layout/other", "layout/small", "node/n2", "slots"));

  const std::string& agents = settings.agents_namespace;
  EXPECT_EQ(comes(map(agents, settings.mig_config_map)), with_file);
  EXPECT_EQ(goes(map(agents, settings.mig_config_map)), with_file);
  EXPECT_THAT(comes(map(agents, "somebodys")), ElementsAre("agent-config"))
      << "it may hold a config that nodes name";
  EXPECT_THAT(comes(map(agents, names::kSlotsConfigMap)), ElementsAre("agent-config"));
  EXPECT_THAT(comes(map(settings.berth_namespace, "somebodys")), IsEmpty());
  EXPECT_THAT(comes(map("default", settings.mig_config_map)), IsEmpty());
}

TEST_F(WatchedKinds, ANewLeaderLooksAtANodeThatHasARecordAndNoGpusAnyMore) {
  cluster.upsert<Node>(node("plain").annotation(names::kRolloutAnnotation, "x"), {});
  EXPECT_THAT(all_mig_keys(cluster, settings),
              ElementsAre("agent-config", "slots", "node/n1", "node/n2", "node/plain",
                          "layout/other", "layout/small"));
}

}  // namespace
}  // namespace berth::test
