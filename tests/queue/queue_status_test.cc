// SPDX-License-Identifier: Apache-2.0
// The status of GPUQueues: usage, pending workloads with reasons, conditions.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "apis/codec/decode.h"
#include "controller/queue/admit/queue_keys.h"
#include "controller/queue/status/reconcile.h"
#include "tests/queue/queue_objects.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Told = std::vector<std::string>;

// Team vision has 8 GPUs of pool training, in namespace a, and nlp of its cohort has 8; one node
// has 16.
class QueueStatusTest : public ::testing::Test {
 protected:
  QueueStatusTest() {
    add(policy_with("training")), add(node_of("n1", 16));
    add(managed("a", "vision")), add(managed("b", "nlp"));
    add(queue_of("vision", 8)), add(queue_of("nlp", 8));
  }
  static Namespace managed(const std::string& name, const std::string& team) {
    Namespace made = namespace_of(name, team);
    made.meta.labels.set(names::kManagedLabel, "true");
    return made;
  }
  static berth::Job running(const std::string& namespace_, const std::string& name,
                            const std::string& queue, int gpus) {
    berth::Job job = job_of(namespace_, name, gpus);
    job.suspended = false;
    note_admission(job.meta, queue, {{"nvidia.com/gpu", gpus}});
    return job;
  }
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  Plan plan() { return reconcile_queues({cluster, answers, settings, now}); }
  // The planned status, applied as the API server would.
  GPUQueueStatus status(const std::string& queue) {
    for (const StatusUpdate& update : plan().statuses)
      if (update.object.name == queue && update.differs) take(update);
    return cluster.gpu_queues().find(queue)->status;
  }
  void take(const StatusUpdate& update) {
    const GPUQueue& standing = *cluster.gpu_queues().find(update.object.name);
    nlohmann::json object = {{"metadata", {{"name", standing.meta.name}}}};
    object.merge_patch(nlohmann::json::parse(update.body));
    GPUQueue next = standing;
    next.status = decode_document<GPUQueue>(object)->status;
    add(std::move(next));
  }
  static const Condition* find(const GPUQueueStatus& status, const std::string& type) {
    for (const Condition& each : status.conditions)
      if (each.type == type) return &each;
    return nullptr;
  }
  // "Ready True QueueActive", in order.
  static Told verdicts(const GPUQueueStatus& status) {
    Told told;
    for (const Condition& each : status.conditions)
      told.push_back(fmt::format("{} {} {}", each.type, each.status, each.reason));
    return told;
  }
  GPUQueue vision() { return *cluster.gpu_queues().find("vision"); }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now = *parse_time("2026-11-21T12:00:00Z");
};

TEST_F(QueueStatusTest, TellsWhatIsHeldOfEachQuotaAndWhatIsBorrowed) {
  add(running("a", "x", "vision", 10));
  berth::Job waits = job_of("a", "y", 9);
  waits.meta.creation_timestamp = *parse_time("2026-11-21T11:00:00Z");
  add(waits);
  const GPUQueueStatus told = status("vision");
  EXPECT_EQ(told.totals.admitted, 1);
  EXPECT_EQ(told.totals.pending, 1);
  EXPECT_EQ(told.totals.used, "10/8");
  EXPECT_EQ(told.totals.borrowed, 2);
  EXPECT_EQ(told.totals.oldest_pending, waits.meta.creation_timestamp);
  EXPECT_THAT(told.usage,
              ElementsAre(QuotaUsage{"nvidia.com/gpu", "training", "8", "10", "2", "9"}));
  EXPECT_THAT(told.pending_reasons, ElementsAre(ReasonCount{"WaitingForQuota", 1}));
  ASSERT_EQ(told.pending.size(), 1u);
  EXPECT_EQ(told.pending.front().workload, "a/y");
  EXPECT_EQ(told.pending.front().pods, 1);
  EXPECT_EQ(told.pending.front().position, 1);
  EXPECT_THAT(told.pending.front().message, HasSubstr("needs 9 nvidia.com/gpu in pool training"));
  EXPECT_THAT(verdicts(told), ElementsAre("Ready True QueueActive"));
  EXPECT_EQ(find(told, "Ready")->message, "1 workload is admitted, 1 waits");
}

TEST_F(QueueStatusTest, TheTotalsAreOfTheQuotaThatIsNearestToItsEnd) {
  GPUQueue queue = vision();
  queue.spec.quotas = {{"nvidia.com/mig-1g.10gb", "training", 0, {}, {}},
                       {"nvidia.com/gpu", "training", 8, {}, {}},
                       {"nvidia.com/mig-2g.20gb", "training", 4, {}, {}}};
  add(queue);
  EXPECT_EQ(status("vision").totals.used, "0/8") << "nothing of nothing comes last";
  berth::Job job = job_of("a", "x", 4);
  job.suspended = false;
  note_admission(job.meta, "vision", {{"nvidia.com/gpu", 4}, {"nvidia.com/mig-2g.20gb", 3}});
  add(job);
  EXPECT_EQ(status("vision").totals.used, "3/4");
  note_admission(job.meta, "vision", {{"nvidia.com/gpu", 16}, {"nvidia.com/mig-1g.10gb", 1}});
  add(job);
  EXPECT_EQ(status("vision").totals.used, "1/0") << "what is held of nothing is beyond every end";
}

TEST_F(QueueStatusTest, PartsOfAGpuAreToldAsTheyAreAndBorrowedAsWholeOnes) {
  for (const char* name : {"vision", "nlp"}) {
    GPUQueue queue = *cluster.gpu_queues().find(name);
    queue.spec.quotas = {{"gpu", "training", 1, {}, {}}};
    add(queue);
  }
  berth::Job job = running("a", "x", "vision", 1);
  note_admission(job.meta, "vision", {{"gpu", 1'125'000}});
  add(job);
  const GPUQueueStatus told = status("vision");
  EXPECT_EQ(told.totals.used, "1.125/1");
  EXPECT_EQ(told.totals.borrowed, 1);
  EXPECT_EQ(told.usage.front().borrowed, "0.125");
}

TEST_F(QueueStatusTest, ListsTheHundredOldestAndCountsAll) {
  for (int i = 0; i < 130; ++i) {
    berth::Job job = job_of("a", fmt::format("j{:03}", i), 20);
    job.meta.creation_timestamp = now + std::chrono::seconds(i);
    add(job);
  }
  const GPUQueueStatus told = status("vision");
  EXPECT_EQ(told.totals.pending, 130);
  ASSERT_EQ(told.pending.size(), 100u);
  EXPECT_EQ(told.pending.front().workload, "a/j000");
  EXPECT_EQ(told.pending.back().position, 100);
  EXPECT_THAT(told.pending_reasons, ElementsAre(ReasonCount{"ExceedsMaximum", 130}));
}

TEST_F(QueueStatusTest, AStatusThatStandsIsNotWrittenAgain) {
  add(running("a", "x", "vision", 4)), add(job_of("a", "y", 9)), add(job_of("b", "z", 9));
  for (const StatusUpdate& update : plan().statuses) {
    EXPECT_TRUE(update.differs) << update.object.name;
    EXPECT_TRUE(update.urgent) << update.object.name;
    take(update);
  }
  now += std::chrono::hours(1);
  for (const StatusUpdate& update : plan().statuses) {
    EXPECT_FALSE(update.differs) << update.object.name;
    EXPECT_EQ(update.body, "");
  }
  add(job_of("a", "another", 1));
  for (const StatusUpdate& update : plan().statuses)
    EXPECT_FALSE(update.urgent) << "numbers change all the time";
}

// --- conditions ---

TEST_F(QueueStatusTest, AHeldQueueIsNotReadyAndNobodysTrouble) {
  GPUQueue held = vision();
  held.spec.stop_policy = StopPolicy::kHold;
  add(held), add(job_of("a", "y", 1));
  const GPUQueueStatus told = status("vision");
  EXPECT_THAT(verdicts(told), ElementsAre("Ready False QueueHeld"));
  EXPECT_EQ(
      find(told, "Ready")->message,
      "0 workloads are admitted, 1 waits; stopPolicy Hold admits nothing, None lets it go on");
  EXPECT_THAT(told.pending_reasons, ElementsAre(ReasonCount{"QueueHeld", 1}));
}

TEST_F(QueueStatusTest, AClassThatTheQueueDoesNotAcceptIsNamed) {
  PriorityClass urgent;
  urgent.meta.name = "urgent";
  urgent.value = 7;
  berth::Job job = job_of("a", "y", 1);
  job.meta.labels.set(names::kPriorityClassLabel, "urgent");
  add(vision()), add(urgent), add(job);
  const GPUQueueStatus told = status("vision");
  EXPECT_THAT(verdicts(told), Contains("PriorityClassNotAccepted True PriorityClassNotAccepted"));
  EXPECT_THAT(find(told, "PriorityClassNotAccepted")->message,
              HasSubstr("1 object names a PriorityClass that the queue does not accept, and berth "
                        "counts it without that class: a/y (urgent)"));
  GPUQueue accepts = vision();
  accepts.spec.priority_classes = {"urgent"};
  add(accepts);
  EXPECT_EQ(find(status("vision"), "PriorityClassNotAccepted"), nullptr);
}

TEST_F(QueueStatusTest, AQueueThatCannotBeActedOnIsStalledAndTheOthersGoOn) {
  GPUQueue mixed = *cluster.gpu_queues().find("nlp");
  mixed.spec.quotas.front().resource = "gpu";
  mixed.meta.creation_timestamp = now;
  add(mixed), add(job_of("b", "z", 1)), add(job_of("a", "y", 1));
  const GPUQueueStatus told = status("nlp");
  EXPECT_THAT(verdicts(told),
              ElementsAre("Ready False MixedQuotaUnits", "Stalled True MixedQuotaUnits"));
  EXPECT_EQ(told.totals.pending, 1);
  EXPECT_THAT(told.usage, IsEmpty());
  EXPECT_THAT(verdicts(status("vision")), ElementsAre("Ready True QueueActive"));
  EXPECT_THAT(status("vision").pending_reasons, ElementsAre(ReasonCount{"Admissible", 1}));
}

TEST_F(QueueStatusTest, PromisesBeyondWhatNodesOfferAreTold) {
  GPUQueue greedy = vision();
  greedy.spec.quotas.front().nominal_quota = 9;
  add(greedy);
  GPUQueueStatus told = status("nlp");
  EXPECT_THAT(verdicts(told), ElementsAre("Ready True QueueActive", "Unfunded True NodesOfferLess"))
      << "both queues have a part in it";
  EXPECT_EQ(find(told, "Unfunded")->message,
            "the nominal quotas of nvidia.com/gpu for pool \"training\" add up to 17 over all "
            "queues, and the nodes of pool training in service offer 16; lower them, or add nodes");
  add(node_of("n2", 1));
  EXPECT_EQ(find(status("nlp"), "Unfunded"), nullptr);
  Node out = node_of("n2", 1);
  out.unschedulable = true;
  add(out);
  EXPECT_NE(find(status("nlp"), "Unfunded"), nullptr) << "a node that is out offers nothing";
}

TEST_F(QueueStatusTest, AClassIsFundedInWholeGpus) {
  for (const char* name : {"vision", "nlp"}) {
    GPUQueue queue = *cluster.gpu_queues().find(name);
    queue.spec.quotas = {{"gpu", "*", 8, {}, {}}};
    add(queue);
  }
  EXPECT_EQ(find(status("vision"), "Unfunded"), nullptr);
  add(node_of("n1", 15));
  EXPECT_THAT(find(status("vision"), "Unfunded")->message,
              HasSubstr("gpu for pool \"*\" add up to 16 over all queues, and the nodes of the "
                        "cluster in service offer 15"));
}

TEST_F(QueueStatusTest, NodesThatAnElasticPoolIsYetToGetFundQuotasToo) {
  GPUClusterPolicy policy = policy_with("training");
  for (const auto& [resource, wanted] : {std::pair("nvidia.com/gpu", 24), {"gpu", 24}}) {
    for (const char* name : {"vision", "nlp"}) {
      GPUQueue queue = *cluster.gpu_queues().find(name);
      queue.spec.quotas = {{resource, "training", wanted, {}, {}}};
      add(queue);
    }
    policy.spec.pools[0].elastic = ElasticSpec{.max_nodes = 2};
    add(policy);
    EXPECT_NE(find(status("vision"), "Unfunded"), nullptr) << "one more node of 16";
    policy.spec.pools[0].elastic = ElasticSpec{.max_nodes = 3};
    add(policy);
    EXPECT_EQ(find(status("vision"), "Unfunded"), nullptr) << "two more";
  }
  cluster.erase<Node>("", "n1");
  EXPECT_EQ(find(status("vision"), "Unfunded"), nullptr) << "nobody knows what they are like";
}

TEST_F(QueueStatusTest, APoolThatNobodyHasIsNamedWithThoseThatAreThere) {
  GPUQueue queue = vision();
  queue.spec.quotas.front().pool = "trainng";
  add(queue);
  EXPECT_EQ(find(status("vision"), "Unfunded")->message,
            "the GPUClusterPolicy has no pool trainng; it has training");
  EXPECT_EQ(find(status("vision"), "Unfunded")->reason, reasons::kPoolUnknown);
  cluster.erase<GPUClusterPolicy>("", "cluster");
  EXPECT_THAT(find(status("vision"), "Unfunded")->message,
              HasSubstr("there is no GPUClusterPolicy"));
}

TEST_F(QueueStatusTest, WorkloadsWhereBerthDoesNotLookAreTold) {
  add(namespace_of("a", "vision"));
  EXPECT_EQ(find(status("vision"), "NamespaceNotManaged"), nullptr) << "nothing of it is there";
  add(job_of("a", "y", 1));
  EXPECT_EQ(find(status("vision"), "NamespaceNotManaged")->message,
            "workloads of the queue are in a namespace that berth leaves alone: a; label it "
            "gpu.berth.dev/managed=true");
  add(managed("a", "vision"));
  EXPECT_EQ(find(status("vision"), "NamespaceNotManaged"), nullptr);
}

TEST_F(QueueStatusTest, ADefaultThatAnOlderQueueHasIsTold) {
  GPUQueue late = queue_of("late", 0);
  late.spec.namespace_selector->match_labels["team"] = "vision";
  late.meta.creation_timestamp = now;
  add(late);
  EXPECT_EQ(find(status("late"), "DefaultContested")->message,
            "an older queue is the default of a: vision of a; set default: false on one of them");
  EXPECT_EQ(find(status("vision"), "DefaultContested"), nullptr);
}

TEST_F(QueueStatusTest, AQueueWithoutASelectorSaysThatItOnlyLends) {
  GPUQueue queue = vision();
  queue.spec.namespace_selector.reset();
  queue.spec.default_queue = false;
  add(queue);
  EXPECT_THAT(find(status("vision"), "Ready")->message, HasSubstr("it only lends"));
}

// --- keys ---

TEST_F(QueueStatusTest, WhatTheIndexFollowsMakesTheCycleDueOnceThereIsAQueue) {
  const auto due = [&](const auto& one) {
    return queue_keys_for(cluster, settings, static_cast<decltype(&one)>(nullptr), &one);
  };
  EXPECT_THAT(due(node_of("n2", 1)),
              ElementsAre("admissions", "queues", "reasons", "usage", "estimates"));
  EXPECT_THAT(due(job_of("a", "y", 1)),
              ElementsAre("admissions", "queues", "reasons", "usage", "estimates"));
  EXPECT_THAT(due(berth::Pod()),
              ElementsAre("admissions", "queues", "reasons", "usage", "estimates"));
  EXPECT_THAT(due(PriorityClass()),
              ElementsAre("admissions", "queues", "reasons", "usage", "estimates"));
  EXPECT_THAT(due(namespace_of("c", "nlp")), ElementsAre("admissions", "queues", "reasons", "usage",
                                                         "estimates", "namespace-quotas"));
  EXPECT_THAT(
      all_queue_keys(cluster, settings),
      ElementsAre("admissions", "estimates", "namespace-quotas", "queues", "reasons", "usage"));
  for (const char* name : {"vision", "nlp"}) cluster.erase<GPUQueue>("", name);
  EXPECT_THAT(due(node_of("n2", 1)), IsEmpty());
  EXPECT_THAT(all_queue_keys(cluster, settings), IsEmpty());
  EXPECT_THAT(plan().statuses, IsEmpty());
}

}  // namespace
}  // namespace berth::queue
