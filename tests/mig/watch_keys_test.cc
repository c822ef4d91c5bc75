// SPDX-License-Identifier: Apache-2.0
// Which keys a change makes due: all that it can affect, and no others.
#include "controller/mig/watch_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/slots.h"
#include "controller/reconcilers/reconcile.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Keys : public ::testing::Test {
 protected:
  Keys() {
    MIGLayout other = layout("other");
    other.spec.node_selector = LabelSelector{{{"tier", "other"}}, {}};
    cluster_.upsert<MIGLayout>(layout("small"), {});
    cluster_.upsert(std::move(other), {});
    cluster_.upsert<Node>(on_its_way("n1"), {});
    cluster_.upsert<Node>(node("n2").a100_80(4).label("tier", "mig"), {});
    cluster_.upsert<Node>(node("plain"), {});
  }
  static Node on_its_way(const std::string& name) {
    NodeRollout rollout;
    rollout.phase = RolloutPhase::kCordoned;
    rollout.layout = "small";
    Node n = node(name).a100_80(4).label("tier", "mig");
    n.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
    return n;
  }
  template <class T>
  std::vector<std::string> changed(const T& old, const T& now) {
    return mig_keys_for(cluster_, settings_, &old, &now);
  }

  ClusterState cluster_;
  Settings settings_;
};

TEST_F(Keys, ALayoutsEditMovesEverythingItsStatusNothingElse) {
  const MIGLayout old = layout("small");
  MIGLayout edited = old;
  edited.spec.rollout.paused = true;
  EXPECT_THAT(changed(old, edited),
              ElementsAre("agent-config", "layout/other", "layout/small", "node/n1"));
  MIGLayout told = old;
  told.status.config_hash = "12345678";
  EXPECT_THAT(changed(old, told), ElementsAre("layout/small"));
}

TEST_F(Keys, ANodesChangeMovesItsOwnKeysAndCapacityMovesEveryLayout) {
  const Node old = on_its_way("n1");
  Node cordoned = old;
  cordoned.unschedulable = true;
  EXPECT_THAT(changed(old, cordoned),
              ElementsAre("layout/other", "layout/small", "node/n1", "slots"));
  Node relabelled = old;
  relabelled.meta.labels.set(names::kMigConfigState, "pending");
  EXPECT_THAT(changed(old, relabelled), ElementsAre("layout/small", "node/n1", "slots"));
}

TEST_F(Keys, ANodeMovesTheAgentsFileByWhatItNamesItsGpusAndWhoWantsIt) {
  const std::vector<std::string> with_file{"agent-config", "layout/small", "node/n1", "slots"};
  const Node old = on_its_way("n1");
  Node named = old;
  named.meta.labels.set(names::kMigConfig, "somebodys-own");
  EXPECT_EQ(changed(old, named), with_file);
  Node refitted = old;
  refitted.meta.labels.set(names::kGpuCount, "8");
  EXPECT_EQ(changed(old, refitted), with_file);
  NodeRollout rollout = *read_rollout(old).rollout;
  rollout.previous = "somebodys-own";
  Node taken = old;
  taken.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
  EXPECT_EQ(changed(old, taken), with_file);
  Node moved = old;
  moved.meta.labels.set("tier", "other");
  EXPECT_THAT(changed(old, moved),
              ElementsAre("agent-config", "layout/other", "layout/small", "node/n1", "slots"));

  EXPECT_EQ(changed(taken, old), with_file) << "an entry may be superfluous now";

  ConfigMap file;
  file.meta.name = settings_.mig_config_map;
  file.meta.namespace_ = settings_.agents_namespace;
  file.data["config.yaml"] = "version: v1\nmig-configs:\n  somebodys-own:\n  - devices: all\n";
  cluster_.upsert(std::move(file), {});
  EXPECT_THAT(changed(old, taken), ElementsAre("layout/small", "node/n1", "slots"))
      << "the file holds what it has come to name";

  rollout.previous.clear();
  rollout.attempt = 1;  // its rollout continues, and the file stays
  Node retried = old;
  retried.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
  EXPECT_THAT(changed(old, retried), ElementsAre("layout/small", "node/n1", "slots"));
}

TEST_F(Keys, APodMovesItsNodeOnlyWhileThatIsUnderWay) {
  const Pod running = pod("web").gpu(1).on("n1");
  Pod terminating = pod("web").gpu(1).on("n1").terminating();
  EXPECT_THAT(changed(running, terminating),
              ElementsAre("layout/other", "layout/small", "node/n1"));
  const Pod fresh = pod("new").gpu(1).on("n2");
  EXPECT_THAT(mig_keys_for(cluster_, settings_, nullptr, &fresh), ElementsAre("layout/small"));
}

// Both versions count: the one with a node makes the node's key due.
TEST_F(Keys, APodThatComesToANodeOrGoesMovesTheSame) {
  const Pod waiting = pod("web").gpu(1), bound = pod("web").gpu(1).on("n1");
  EXPECT_THAT(changed(waiting, bound), ElementsAre("layout/small", "node/n1"));
  EXPECT_THAT(mig_keys_for(cluster_, settings_, &bound, static_cast<const Pod*>(nullptr)),
              ElementsAre("layout/other", "layout/small", "node/n1"));
  Pod gone = waiting;
  gone.meta.deletion_timestamp = Time{};
  EXPECT_THAT(changed(waiting, gone), IsEmpty()) << "it was nobody's last provider";
}

TEST_F(Keys, PodsWithoutGpusAndUnboundPodsMoveNothing) {
  const Pod cpu = pod("cpu").on("n2");
  const Pod pending = pod("pending").gpu(1);
  const Pod nowhere = pod("elsewhere").gpu(1).on("unknown");
  for (const Pod* p : {&cpu, &pending, &nowhere})
    EXPECT_THAT(mig_keys_for(cluster_, settings_, nullptr, p), IsEmpty()) << p->meta.name;
}

TEST_F(Keys, TheLedgerMovesTheNodesInItBeforeAndAfter) {
  ConfigMap old;
  old.meta.name = names::kSlotsConfigMap;
  old.meta.namespace_ = settings_.berth_namespace;
  ConfigMap now = old;
  old.data["n1"] = encode_slot({"u", "MIGLayout/small", 1, 1, {}});
  now.data["n2"] = encode_slot({"u", "MIGLayout/small", 1, 1, {}});
  EXPECT_THAT(changed(old, now),
              ElementsAre("layout/other", "layout/small", "node/n1", "node/n2", "slots"));
  ConfigMap foreign = old;
  foreign.meta.namespace_ = "default";
  EXPECT_THAT(changed(foreign, foreign), IsEmpty());
}

using KeysDeathTest = Keys;
TEST_F(KeysDeathTest, OneWithoutAReconcilerIsABug) {
  EXPECT_DEATH(reconcile(Snapshot{.cluster = cluster_,
                                  .answers = Answers(),
                                  .settings = settings_,
                                  .now = {},
                                  .epoch = 1},
                         "budget/x"),
               "berth has a bug and ends: no reconciler has the key budget/x");
}

TEST_F(Keys, ANewLeaderLooksAtEverything) {
  EXPECT_THAT(
      all_mig_keys(cluster_, settings_),
      ElementsAre("agent-config", "slots", "node/n1", "node/n2", "layout/other", "layout/small"));
}

}  // namespace
}  // namespace berth::test
