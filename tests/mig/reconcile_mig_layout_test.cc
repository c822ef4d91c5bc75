// SPDX-License-Identifier: Apache-2.0
// A layout's own reconcile: its finalizer, its deletion, its questions, and when it runs again.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "apis/base/reasons.h"
#include "controller/disruption/slots.h"
#include "controller/mig/reconcile.h"
#include "tests/mig/one_node.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct ReconcileLayout : OneNode {
  ReconcileLayout() {
    edit_layout([](MIGLayout& l) { l.spec.capacity_guard.retire = {"nvidia.com/gpu"}; });
  }
  Plan next() { return world_.plan("layout/small"); }
  std::string steps() { return print(next()); }
  void mark_deleted(DeletionPolicy policy = DeletionPolicy::kRetain) {
    edit_layout([&](MIGLayout& l) {
      l.meta.deletion_timestamp = world_.now;
      l.spec.deletion_policy = policy;
    });
  }
  bool may_go() { return steps().find("remove the finalizer") != std::string::npos; }
  void set_slot(const std::string& holder) {
    ConfigMap ledger = world_.ledger();
    ledger.data.clear();
    if (!holder.empty()) ledger.data["n1"] = encode_slot({"uid-n1", holder, 1, 1, world_.now});
    world_.add(ledger);
  }
  void refuse_eviction(const Pod& pod, Error error) {
    Answer no;
    no.error = std::move(error);
    no.at = world_.now;
    world_.answers.put(question(Ask{ref_of(pod), pod.meta.resource_version}), std::move(no));
  }
};

TEST_F(ReconcileLayout, TakesItsFinalizerBeforeAnyNode) {
  EXPECT_THAT(steps(), HasSubstr("claim for MIGLayout small: n1"));
  edit_layout([](MIGLayout& l) { l.meta.finalizers.clear(); });
  EXPECT_THAT(steps(), AllOf(HasSubstr("MIGLayout/small: return its nodes before it is deleted"),
                             Not(HasSubstr("claim for"))));
  mark_deleted();
  EXPECT_THAT(steps(), Not(HasSubstr("MIGLayout/small: "))) << "nobody holds it any more";
}

TEST_F(ReconcileLayout, GoesOnceNoNodeIsInProgressForIt) {
  mark_deleted();
  const Plan last = next();
  EXPECT_THAT(print(last), HasSubstr("MIGLayout/small: every node is back in service: remove the "
                                     "finalizer"));
  EXPECT_TRUE(last.statuses.empty());
  ASSERT_EQ(last.events.size(), 1u);
  EXPECT_EQ(last.events[0].reason, reasons::kDeleted);
  set_slot("MIGLayout/small");
  EXPECT_FALSE(may_go());
  set_slot("MIGLayout/large");
  EXPECT_TRUE(may_go());
  set_slot("");
  bring_to(RolloutPhase::kFailed);
  set_slot("");
  EXPECT_FALSE(may_go());
  edit_record([](NodeRollout& r) { r.layout_uid = "uid-large"; });
  EXPECT_TRUE(may_go());
}

// Without its layout a node is never returned, and the cache may not know yet that one is in a
// rollout.
TEST_F(ReconcileLayout, ThatItsNodesAreBackIsTheApiServersToSay) {
  constexpr char kBehind[] = "a node is not back, and the cache is behind";
  const Node out = on_its_way(n1(), layout_, config_, RolloutPhase::kApplying, world_.now);
  mark_deleted();
  const auto look = [&] {
    const Plan last = next();
    EXPECT_EQ(last.objects.at(0).steps.size(), 2u);
    return std::get<Guard>(last.objects.at(0).steps.at(0)).refuse_any;
  };
  EXPECT_EQ(look()({n1()}), std::nullopt);
  EXPECT_EQ(look()({}), std::nullopt);
  EXPECT_EQ(look()({out}), kBehind);

  cut();
  const Node sliced = n1();
  mark_deleted(DeletionPolicy::kDisableMIG);
  world_.render_agent_config("small");
  world_.add(test::node("n1").a100_80(4).label("tier", "mig"));
  EXPECT_EQ(look()({n1()}), std::nullopt);
  EXPECT_EQ(look()({sliced}), kBehind) << "MIG is to be off";
}

// A slot is taken before its node shows it.
TEST_F(ReconcileLayout, GoesByNoOlderLedgerThanItsLeadersOwn) {
  mark_deleted();
  EXPECT_TRUE(may_go());
  world_.epoch = 2;
  EXPECT_FALSE(may_go());
  EXPECT_TRUE(next().requeue_after.has_value());
  ConfigMap ledger = world_.ledger();
  ledger.meta.annotations.set(names::kEpochAnnotation, "2");
  world_.add(ledger);
  EXPECT_TRUE(may_go());
  ledger.meta.annotations.erase(names::kEpochAnnotation);
  world_.add(ledger);
  EXPECT_TRUE(may_go()) << "somebody has edited it";
  world_.cluster.erase<ConfigMap>(ledger.meta.namespace_.view(), ledger.meta.name);
  EXPECT_FALSE(may_go()) << "it is not made yet";
}

TEST_F(ReconcileLayout, SwitchesMigOffFirstWhereThatIsAsked) {
  cut();
  mark_deleted(DeletionPolicy::kDisableMIG);
  world_.render_agent_config("small");
  EXPECT_FALSE(may_go());
  EXPECT_THAT(steps(), HasSubstr("claim for MIGLayout small: n1"));
  world_.add(test::node("n1").a100_80(4).label("tier", "mig"));
  EXPECT_TRUE(may_go()) << "MIG is off";
  cut();
  label(names::kMigStrategy, "weird");
  EXPECT_TRUE(may_go()) << "it can't be said what off means there";
  world_.add(test::node("n1").a100_80(4).label("tier", "mig"));
  cut();
  NodeRollout failed;
  failed.since = world_.now;
  failed.failed_config = names::kAllDisabled;
  edit_node([&](Node& node) {
    node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(failed));
  });
  EXPECT_TRUE(may_go()) << "it has failed for good";
}

TEST_F(ReconcileLayout, AsksWhetherPodsMayLeaveAndLooksAgainAtARefusal) {
  const Pod web = pod("web").gpu(1).on("n1");
  world_.add(web);
  EXPECT_THAT(steps(), HasSubstr("ask: may Pod/team-a/web be evicted"));
  EXPECT_EQ(next().requeue_after, std::nullopt);
  refuse_eviction(web, {.message = "no", .http_code = 403});
  EXPECT_EQ(next().requeue_after, world_.settings.answer_ttl / 2);
  refuse_eviction(web,
                  {.message = "no", .http_code = 429, .causes = {{"DisruptionBudget", "", ""}}});
  EXPECT_EQ(next().requeue_after, world_.settings.answer_ttl / 2);
  world_.add(budget("web", "app", "web", 0));
  world_.add(Pod(pod("web").gpu(1).on("n1").label("app", "web")));
  Snapshot offline = world_.snapshot();
  offline.offline = true;
  const Plan plan = reconcile_mig_layout(offline, "small");
  EXPECT_THAT(plan.statuses.at(0).body, HasSubstr("PodDisruptionBudget"));
  EXPECT_EQ(plan.requeue_after, std::nullopt) << "there nobody answers";
}

TEST_F(ReconcileLayout, LooksAgainWhenTheWindowOpensAndWhenANodeIsDue) {
  world_.add(policy("disruption: {windows: [{schedule: \"0 22 * * *\", duration: 2h}]}"));
  EXPECT_EQ(next().requeue_after, 10h);
  cut();
  EXPECT_EQ(next().requeue_after, std::nullopt) << "no node has to go";
  world_.cluster.erase<GPUClusterPolicy>("", "cluster");
  world_.add(test::node("n1").a100_80(4).label("tier", "mig"));
  NodeRollout later;
  later.since = world_.now;
  later.not_before = world_.now + 5min;
  edit_node([&](Node& node) {
    node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(later));
  });
  EXPECT_EQ(next().requeue_after, 5min);
}

TEST_F(ReconcileLayout, LooksAgainWhenADeviceThatIsMissingIsAFault) {
  cut();
  edit_node(
      [](Node& node) { node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(27)); });
  EXPECT_EQ(next().requeue_after, 30min);
  world_.now += 30min;
  EXPECT_EQ(next().requeue_after, std::nullopt);
}

// --- mig-manager's file ---

TEST_F(ReconcileLayout, TheAgentsFileIsWrittenOnlyWhereItDiffers) {
  EXPECT_EQ(print(world_.plan("agent-config")), "");
  ask_for_another();
  EXPECT_EQ(print(world_.plan("agent-config")), "");
  edit_layout([](MIGLayout& l) {
    l.spec.devices = {DeviceLayout{std::nullopt, {{"2g.20gb", 3}}}};
  });
  const Plan plan = world_.plan("agent-config");
  const Write& write = std::get<Write>(plan.objects.at(0).steps.back());
  EXPECT_EQ(write.verb, Verb::kMergePatch);
  EXPECT_EQ(write.field_manager, names::kManagerMig);
  EXPECT_EQ(write.reason, "render the MIGLayouts into the agents' file");
  EXPECT_EQ(write.object.str(), "ConfigMap/gpu-operator/berth-mig-parted-config");
  EXPECT_THAT(write.body, HasSubstr("resourceVersion"));
  world_.cluster.erase<ConfigMap>("gpu-operator", "berth-mig-parted-config");
  EXPECT_EQ(std::get<Write>(world_.plan("agent-config").objects.at(0).steps.at(0)).verb,
            Verb::kCreate);
}

// The cache may not know yet that a node names a dropped config; mig-manager would not find it.
TEST_F(ReconcileLayout, ThatNoNodeNamesWhatTheAgentsFileDropsIsTheApiServersToSay) {
  edit_layout([](MIGLayout& l) {
    l.spec.devices = {DeviceLayout{std::nullopt, {{"2g.20gb", 3}}}};
  });
  const Plan plan = world_.plan("agent-config");
  ASSERT_EQ(plan.objects.at(0).steps.size(), 2u);
  const auto& look = std::get<Guard>(plan.objects.at(0).steps.at(0));
  EXPECT_EQ(look.question, "does no node name " + config_ + "?");
  const Node labelled = test::node("n2").label(names::kMigConfig, config_ + "-r2");
  const Node other = test::node("n2").label(names::kMigConfig, "berth-large-0123abcd");
  const Node taken =
      on_its_way(test::node("n2"), layout_, config_, RolloutPhase::kCordoned, world_.now);
  EXPECT_EQ(look.refuse_any({}), std::nullopt);
  EXPECT_EQ(look.refuse_any({n1(), other}), std::nullopt);
  for (const Node& each : {labelled, taken})
    EXPECT_EQ(look.refuse_any({n1(), each}),
              "node n2 names " + config_ + ", and the cache is behind");

  Snapshot offline = world_.snapshot();
  offline.offline = true;
  EXPECT_EQ(reconcile_agent_config(offline).objects.at(0).steps.size(), 1u);
  label(names::kMigConfig, config_);
  EXPECT_EQ(world_.plan("agent-config").objects.at(0).steps.size(), 1u) << "nothing is dropped";
}

TEST_F(ReconcileLayout, AnEmptyFileStaysEmptyUntilSomebodyAsksForALayout) {
  world_.cluster.erase<MIGLayout>("", "small");
  EXPECT_NE(print(world_.plan("agent-config")), "") << "what was in it goes";
  ConfigMap file = *world_.cluster.config_maps().find("gpu-operator", "berth-mig-parted-config");
  file.data[names::kMigPartedKey] = "";
  world_.add(file);
  EXPECT_EQ(print(world_.plan("agent-config")), "");
  file.data.clear();
  world_.add(file);
  EXPECT_EQ(print(world_.plan("agent-config")), "");
  world_.add(layout_);
  EXPECT_NE(print(world_.plan("agent-config")), "");
}

}  // namespace
}  // namespace berth::test
