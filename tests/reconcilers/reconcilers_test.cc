// SPDX-License-Identifier: Apache-2.0
// What the shell is handed: every folder's keys, what a deposed leader still does, what is kept in
// mind from one plan to the next.
#include "controller/reconcilers/reconcilers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "apis/names.h"
#include "controller/cost/cost_meter.h"
#include "controller/reconcilers/keys.h"
#include "controller/reconcilers/reconcile.h"
#include "tests/queue/queue_objects.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// A priced pool with a queue in it, and a Job of the queue that runs on its node.
class HandedReconcilers : public ::testing::Test {
 protected:
  HandedReconcilers() {
    cluster_.upsert<Node>(node("n1").a100_80(4).label("tier", "training"), now_);
    GPUClusterPolicy policy = queue::policy_with("training");
    policy.spec.pools[0].price = PriceSpec{"2", "USD"};
    cluster_.upsert(std::move(policy), now_);
    cluster_.upsert(queue::namespace_of("a", "vision"), now_);
    cluster_.upsert(queue::queue_of("vision", 4), now_);
    berth::Job job = queue::job_of("a", "train", 4);
    job.suspended = false;
    job.meta.annotations.set(
        names::kAdmittedAnnotation,
        queue::encode_admission({.uid = "train",
                                 .queue = "vision",
                                 .cohort = "research",
                                 .pool = "training",
                                 .amounts = {{"nvidia.com/gpu", 4}},
                                 .since = now_.time_since_epoch().count()}));
    cluster_.upsert(std::move(job), now_);
    cluster_.upsert<Pod>(pod("serve").on("n1").gpu(1), now_);
  }
  void ledger(const char* name, int epoch) {
    ConfigMap made;
    made.meta.namespace_ = settings_.berth_namespace;
    made.meta.name = made.meta.uid = name;
    made.meta.annotations.set(names::kEpochAnnotation, std::to_string(epoch));
    cluster_.upsert(std::move(made), now_);
  }
  Snapshot snapshot() const {
    return {.cluster = cluster_,
            .answers = answers_,
            .settings = settings_,
            .now = now_,
            .epoch = 3,
            .samples = samples_};
  }
  // Of the keys those for which something is to be written.
  std::vector<std::string> writing(const std::vector<std::string>& keys,
                                   const Snapshot& snapshot) const {
    const Reconcilers all = reconcilers(settings_);
    std::vector<std::string> out;
    for (const std::string& key : keys)
      if (!all.reconcile(snapshot, key).objects.empty()) out.push_back(key);
    return out;
  }

  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
  Samples samples_;
  Time now_ = *parse_time("2026-11-25T10:00:00Z");
};

TEST_F(HandedReconcilers, EverythingIsTheKeysOfEveryFolder) {
  cluster_.upsert<MIGLayout>(layout("inference"), now_);
  Namespace managed = queue::namespace_of("b", "nobody");
  managed.meta.labels.set(names::kManagedLabel, "true");
  cluster_.upsert(std::move(managed), now_);
  const std::vector<std::string> keys = reconcilers(settings_).all_keys(cluster_);
  EXPECT_THAT(keys, IsSupersetOf({"agent-config", "slots", "layout/inference"}));
  EXPECT_THAT(keys, IsSupersetOf({"policy", "idle", "cost", "health", "reclaim", "pool/n1"}));
  EXPECT_THAT(keys, IsSupersetOf({"queues", "admissions", "usage", "estimates"}));
}

TEST_F(HandedReconcilers, NewSamplesAreNewsForWhoeverReadsThem) {
  EXPECT_THAT(keys_of_samples(),
              UnorderedElementsAre("policy", "idle", "cost", "health", "reclaim", "admissions"));
}

// Whoever planned it, it is told by the objects that berth answers for.
TEST_F(HandedReconcilers, ARefusedWriteIsToldByWhatStands) {
  const auto told = [&] { return reconcilers(settings_).keys_of_refusal(cluster_); };
  EXPECT_THAT(told(), UnorderedElementsAre("slots", "policy", "queues"));
  cluster_.upsert<MIGLayout>(layout("inference"), now_);
  cluster_.upsert<MIGLayout>(layout("training"), now_);
  EXPECT_THAT(told(), UnorderedElementsAre("slots", "layout/inference", "layout/training", "policy",
                                           "queues"));
  cluster_.erase<GPUClusterPolicy>("", "cluster");
  cluster_.erase<GPUQueue>("", "vision");
  EXPECT_THAT(told(), UnorderedElementsAre("slots", "layout/inference", "layout/training"));
}

TEST_F(HandedReconcilers, EveryWatchedKindIsAskedForItsKeys) {
  const Reconcilers all = reconcilers(settings_);
  Watched::each([&]<class T>() {
    ASSERT_TRUE(std::get<KeysFor<T>>(all.keys_for)) << kKind<T>.kind;
  });
  const Node& n1 = *cluster_.nodes().find("n1");
  EXPECT_THAT(std::get<KeysFor<Node>>(all.keys_for)(cluster_, nullptr, &n1), Contains("pool/n1"));
}

TEST_F(HandedReconcilers, ADeposedLeaderWritesNothing) {
  const std::vector<std::string> counted{"usage", "cost"};
  const std::vector<std::string> keys{"usage", "cost", "pool/n1"};
  ASSERT_EQ(writing(keys, snapshot()), keys);
  for (const char* name : {names::kSlotsConfigMap, names::kAdmissionsConfigMap}) {
    ledger(name, 4);
    EXPECT_TRUE(is_deposed(snapshot())) << name;
    EXPECT_THAT(writing(keys, snapshot()), IsEmpty()) << name;
    ledger(name, 3);
    EXPECT_FALSE(is_deposed(snapshot())) << name << ": its own";
    EXPECT_EQ(writing(keys, snapshot()), keys) << name;
  }
}

// Without a server there is no leader: what `berth plan` reads may have any epoch.
TEST_F(HandedReconcilers, OfflineNobodyIsDeposed) {
  ledger(names::kSlotsConfigMap, 4);
  Snapshot offline = snapshot();
  offline.offline = true;
  EXPECT_FALSE(is_deposed(offline));
  EXPECT_THAT(writing({"pool/n1"}, offline), ElementsAre("pool/n1"));
}

// What has run for less than a minute is written nowhere, and known to the process alone.
TEST_F(HandedReconcilers, AProcessKeepsInMindWhatItHasCounted) {
  const auto hours_written = [&](const Reconcilers& by, std::string_view key) {
    const Plan plan = by.reconcile(snapshot(), key);
    return plan.objects.empty() ? std::string()
                                : std::get<Write>(plan.objects[0].steps.at(0)).body;
  };
  for (const std::string_view key : {kUsageKey, kCostKey}) {
    const Reconcilers kept = reconcilers(settings_);
    const std::string first = hours_written(kept, key);
    now_ += 5s;
    EXPECT_EQ(hours_written(kept, key), "") << key << ": its write is on its way";
    EXPECT_NE(hours_written(reconcilers(settings_), key), "") << key << ": another knows of none";
    EXPECT_NE(first, "") << key;
  }
}

TEST_F(HandedReconcilers, ANewLeaderIsAboveEveryLedger) {
  const Reconcilers all = reconcilers(settings_);
  EXPECT_EQ(all.claim_epoch(nullptr, 7).second, 8);
  ledger(names::kSlotsConfigMap, 9);
  const ConfigMap* slots =
      cluster_.config_maps().find(settings_.berth_namespace, names::kSlotsConfigMap);
  EXPECT_EQ(all.claim_epoch(slots, 7).second, 10);
}

TEST_F(HandedReconcilers, FiguresAreThoseOfEveryFolder) {
  GPUQueue budgeted = queue::queue_of("vision", 4);
  budgeted.spec.budget = BudgetSpec{parse_thousandths("100"), BudgetPeriod::kDay, "UTC",
                                    WhenExceeded::kNotify};
  cluster_.upsert(std::move(budgeted), now_);
  cluster_.upsert<MIGLayout>(layout("inference"), now_);
  std::set<std::string> names;
  for (const Figure& figure : reconcilers(settings_).figures(cluster_)) names.insert(figure.name);
  std::string text;
  for (const std::string& name : names) text += name + " ";
  EXPECT_THAT(names, Contains(::testing::StartsWith("berth_pool_"))) << text;
  EXPECT_THAT(names, Contains(::testing::StartsWith("berth_namespace_"))) << text;
  EXPECT_THAT(names, Contains(::testing::StartsWith("berth_queue_"))) << text;
  EXPECT_THAT(names, Contains(::testing::HasSubstr("budget"))) << text;
}

TEST(KeyFamiliesDeathTest, AKeyOfNoFamilyIsABug) {
  ClusterState cluster;
  Answers answers;
  Settings settings;
  Samples samples;
  EXPECT_DEATH(reconcile({.cluster = cluster,
                          .answers = answers,
                          .settings = settings,
                          .now = Time{},
                          .samples = samples},
                         "nobody/x"),
               "no reconciler has the key nobody/x");
}

}  // namespace
}  // namespace berth::test
