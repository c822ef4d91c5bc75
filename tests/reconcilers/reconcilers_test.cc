// SPDX-License-Identifier: Apache-2.0
// What the shell is handed: every folder's keys, what a deposed leader still does, what is kept in
// mind from one plan to the next.
#include "controller/reconcilers/reconcilers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "controller/mig/rollout_measures.h"
#include "controller/queue/budget/usage_ledger.h"
#include "controller/queue/recall/idle_measures.h"
#include "controller/reconcilers/keys.h"
#include "controller/reconcilers/reconcile.h"
#include "tests/queue/queue_objects.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
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
    job.meta.annotations.set(names::kAdmittedAnnotation,
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
  static bool writes(const Reconcilers& process, const Snapshot& snapshot, std::string_view key) {
    return !process.reconcile(snapshot, key).objects.empty();
  }
  // Of the keys those for which something is to be written.
  std::vector<std::string> writing(const std::vector<std::string>& keys) const {
    std::vector<std::string> out;
    for (const std::string& key : keys)
      if (writes(process_, snapshot(), key)) out.push_back(key);
    return out;
  }

  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
  Samples samples_;
  Time now_ = *parse_time("2026-11-25T10:00:00Z");
  const Reconcilers process_ = reconcilers(settings_);
};

TEST_F(HandedReconcilers, EverythingIsTheKeysOfEveryFolder) {
  cluster_.upsert<MIGLayout>(layout("inference"), now_);
  // It waits, and has nothing of what the webhook would have added.
  Namespace managed = queue::namespace_of("b", "none");
  managed.meta.labels.set(names::kManagedLabel, "true");
  cluster_.upsert(std::move(managed), now_);
  GPUClusterPolicy tainted = *cluster_.gpu_policies().find("cluster");
  tainted.spec.pools[0].taints = {{"nvidia.com/gpu", "present", "NoSchedule"}};
  cluster_.upsert(std::move(tainted), now_);
  Pod past = pod("past").in("b").gpu(1).phase(PodPhase::kPending);
  cluster_.upsert(std::move(past), now_);
  const std::vector<std::string> keys = process_.all_keys(cluster_);
  EXPECT_THAT(keys, IsSupersetOf({"agent-config", "slots", "layout/inference"}));
  EXPECT_THAT(keys, IsSupersetOf({"policy", "idle", "cost", "health", "reclaim", "pool/n1"}));
  EXPECT_THAT(keys, Contains("pod/b/past"));
  EXPECT_THAT(keys, IsSupersetOf({"queues", "admissions", "usage", "estimates"}));
}

TEST_F(HandedReconcilers, AnEditOfThePolicyIsNewsForWhoeverActsByItAStatusIsNot) {
  const GPUClusterPolicy before = *cluster_.gpu_policies().find("cluster");
  GPUClusterPolicy told = before, edited = before, marked = before;
  told.status.observed_generation = 7;
  edited.spec.idle.policy = IdlePolicy::kAlways;
  marked.meta.deletion_timestamp = now_;
  const auto due = [&](const GPUClusterPolicy* old, const GPUClusterPolicy* now) {
    return keys_for(cluster_, settings_, old, now);
  };
  const auto all_of_them = IsSupersetOf({"policy", "idle", "cost", "health", "reclaim", "pool/n1"});
  EXPECT_THAT(due(&before, &edited), all_of_them);
  EXPECT_THAT(due(&before, &marked), all_of_them);
  EXPECT_THAT(due(nullptr, &before), all_of_them);
  EXPECT_THAT(due(&before, nullptr), all_of_them);
  for (const char* key : {"idle", "cost", "health", "reclaim"})
    EXPECT_THAT(due(&before, &told), ::testing::Not(Contains(key)));
}

TEST_F(HandedReconcilers, NewSamplesAreNewsForWhoeverReadsThem) {
  EXPECT_THAT(keys_of_samples(),
              UnorderedElementsAre("policy", "idle", "cost", "health", "reclaim", "admissions"));
}

// Whoever planned it, it is told by the objects that berth answers for.
TEST_F(HandedReconcilers, ARefusedWriteIsToldByWhatStands) {
  const auto told = [&] { return process_.keys_of_refusal(cluster_); };
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
  Watched::each(
      [&]<class T>() { EXPECT_TRUE(std::get<KeysFor<T>>(process_.keys_for)) << kKind<T>.kind; });
  const Node& n1 = *cluster_.nodes().find("n1");
  EXPECT_THAT(std::get<KeysFor<Node>>(process_.keys_for)(cluster_, nullptr, &n1),
              Contains("pool/n1"));
}

TEST_F(HandedReconcilers, WithTheEmergencyStopEverythingIsDue) {
  const auto due = [&](const auto& old, const auto& now) {
    return keys_for(cluster_, settings_, &old, &now);
  };
  const GPUClusterPolicy before = *cluster_.gpu_policies().find("cluster");
  GPUClusterPolicy stopped = before;
  stopped.spec.operations = Operations::kStopped;
  std::vector<std::string> all = process_.all_keys(cluster_);
  EXPECT_THAT(due(before, stopped), ::testing::UnorderedElementsAreArray(all));
  EXPECT_THAT(due(stopped, before), ::testing::UnorderedElementsAreArray(all));
  Namespace own;
  own.meta.name = settings_.berth_namespace;
  Namespace asks = own;
  asks.meta.annotations.set(names::kStopAnnotation, "why");
  EXPECT_THAT(due(own, asks), ::testing::UnorderedElementsAreArray(all));
  EXPECT_THAT(due(own, own), ::testing::Not(Contains("pool/n1")));
}

TEST_F(HandedReconcilers, ADeposedLeaderWritesNothing) {
  const std::vector<std::string> keys{"usage", "cost", "pool/n1"};
  writing(keys);
  for (const char* name : {names::kSlotsConfigMap, names::kAdmissionsConfigMap}) {
    now_ += 2min;
    ledger(name, 4);
    EXPECT_TRUE(is_deposed(snapshot())) << name;
    EXPECT_THAT(writing(keys), IsEmpty()) << name;
    ledger(name, 3);
    EXPECT_FALSE(is_deposed(snapshot())) << name << ": its own";
    EXPECT_EQ(writing(keys), keys) << name;
  }
}

// It tells no times either, which go into the statuses of the queues.
TEST_F(HandedReconcilers, ADeposedLeaderTellsNobodyWhenHeBegins) {
  GPUQueue vision = *cluster_.gpu_queues().find("vision");
  vision.status.pending = {{.workload = "a/next", .waiting_since = now_}};
  cluster_.upsert(std::move(vision), now_);
  ledger(names::kAdmissionsConfigMap, 4);
  EXPECT_EQ(process_.reconcile(snapshot(), "estimates"), Plan());
  ledger(names::kAdmissionsConfigMap, 3);
  EXPECT_EQ(process_.reconcile(snapshot(), "estimates").requeue_after, 1min);
}

// Without a server there is no leader: what `berth plan` reads may have any epoch.
TEST_F(HandedReconcilers, OfflineNobodyIsDeposed) {
  ledger(names::kSlotsConfigMap, 4);
  Snapshot offline{.cluster = cluster_,
                   .answers = answers_,
                   .settings = settings_,
                   .now = now_,
                   .epoch = 3,
                   .offline = true,
                   .samples = samples_};
  EXPECT_FALSE(is_deposed(offline));
  EXPECT_TRUE(writes(process_, offline, "pool/n1"));
}

// What has run since nothing was written down is known to the process that saw it begin.
TEST_F(HandedReconcilers, AProcessKeepsInMindWhatItHasCounted) {
  writing({"usage", "cost"});
  now_ += 5s;
  EXPECT_THAT(writing({"usage", "cost"}), ElementsAre("usage")) << "the cost's write is on its way";
  const Reconcilers next = reconcilers(settings_);
  EXPECT_FALSE(writes(next, snapshot(), "usage"));
  EXPECT_TRUE(writes(next, snapshot(), "cost"));
}

TEST_F(HandedReconcilers, ANewLeaderIsAboveEveryLedger) {
  EXPECT_EQ(process_.claim_epoch(nullptr, 7).second, 8);
  ledger(names::kSlotsConfigMap, 9);
  const ConfigMap* slots =
      cluster_.config_maps().find(settings_.berth_namespace, names::kSlotsConfigMap);
  EXPECT_EQ(process_.claim_epoch(slots, 7).second, 10);
}

TEST_F(HandedReconcilers, FiguresAreThoseOfEveryFolder) {
  GPUQueue budgeted = queue::queue_of("vision", 4);
  budgeted.spec.budget =
      BudgetSpec{parse_thousandths("100"), BudgetPeriod::kDay, "UTC", WhenExceeded::kWarn};
  cluster_.upsert(std::move(budgeted), now_);
  queue::GpuHours hours{.at = now_};
  hours.budgets["vision"] = {.period = {now_, now_ + 24h}, .used = 1};
  ConfigMap used;
  used.meta.namespace_ = settings_.berth_namespace;
  used.meta.name = used.meta.uid = names::kUsageConfigMap;
  for (auto& [key, text] : queue::encode_usage(hours)) used.data[key] = text;
  cluster_.upsert(std::move(used), now_);
  cluster_.upsert<MIGLayout>(layout("inference"), now_);
  std::vector<std::string> told;
  for (const Figure& figure : process_.figures(cluster_)) told.push_back(figure.name);
  EXPECT_THAT(told, IsSupersetOf({"berth_miglayout_nodes", "berth_pool_nodes",
                                  "berth_namespace_allocated_gpus", "berth_queue_pending_workloads",
                                  "berth_queue_budget_gpu_seconds"}));
}

TEST_F(HandedReconcilers, MeasuresAreThoseThatPlansAddTo) {
  std::vector<std::string> told;
  for (const Measure* measure : process_.measures) told.emplace_back(measure->name);
  EXPECT_THAT(told, UnorderedElementsAre(kRolloutPhaseSeconds.name, kNodeRollouts.name,
                                         queue::kIdleReclaims.name));
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
