// SPDX-License-Identifier: Apache-2.0
// GPUQueue from and to the API server: list, watch, status.
#include <gtest/gtest.h>

#include "apis/codec/decode.h"
#include "apis/codec/manifest.h"
#include "apis/kinds/gpu_queue.h"

namespace berth {
namespace {

constexpr char kQueue[] =
    R"({"metadata":{"name":"vision","resourceVersion":"7","generation":3},"spec":{)"
    R"("cohortName":"research","namespaceSelector":{},"default":true,"quotas":[)"
    R"({"resource":"nvidia.com/gpu","pool":"training","nominalQuota":16,"borrowingLimit":8,)"
    R"("lendingLimit":0},{"resource":"gpu","pool":"*","nominalQuota":2}],)"
    R"("queueingStrategy":"StrictFIFO","preemption":{"withinQueue":"LowerPriority",)"
    R"("reclaimWithinCohort":"Any","reclaimMinRuntime":"90s",)"
    R"("unreclaimable":"MayBorrow"},"fairSharing":{"weight":"0.25"},)"
    R"("reserveAfter":"30m","stopPolicy":"Hold","priorityClasses":[],"unknown":1},)"
    R"("status":{"observedGeneration":2,"totals":{"admitted":3,"pending":2,"used":"12/16",)"
    R"("borrowed":1,"oldestPending":"2026-11-21T14:22:49Z"},"usage":[{"resource":)"
    R"("nvidia.com/gpu","pool":"training","nominal":"16","admitted":"12","borrowed":"0",)"
    R"("pending":"8"}],"pendingReasons":[{"reason":"WaitingForQuota","count":2}],"pending":[)"
    R"({"workload":"lab/train","pods":4,"waitingSince":"2026-11-21T14:22:49Z","position":1,)"
    R"("reason":"WaitingForQuota","message":"m",)"
    R"("earliestStart":"2026-11-21T14:22:49Z","latestStart":"2026-11-21T14:22:49Z",)"
    R"("reservedFrom":"2026-11-21T14:22:49Z"}],"conditions":[{"type":"Ready",)"
    R"("status":"True","observedGeneration":2,"lastTransitionTime":"2026-11-21T14:22:49Z",)"
    R"("reason":"Ready","message":"m"}]}})";

GPUQueue decode_queue(std::string body) {
  Result<GPUQueue> queue = decode_object<GPUQueue>(body);
  EXPECT_TRUE(queue.has_value()) << describe(queue.error());
  return queue ? *queue : GPUQueue();
}

TEST(DecodeQueue, ReadsListsAndWatches) {
  std::string event = std::string(R"({"type":"MODIFIED","object":)") + kQueue + "}";
  Result<WatchEvent<GPUQueue>> watched = decode_watch_event<GPUQueue>(event);
  ASSERT_TRUE(watched.has_value()) << describe(watched.error());
  const GPUQueueSpec& spec = watched->object.spec;
  EXPECT_EQ(spec.cohort_name, "research");
  ASSERT_TRUE(spec.namespace_selector.has_value()) << "{} is every namespace, absent is none";
  EXPECT_EQ(spec.quotas.at(0), (QuotaSpec{"nvidia.com/gpu", "training", 16, 8, 0}));
  EXPECT_EQ(spec.quotas.at(1), (QuotaSpec{"gpu", "*", 2, std::nullopt, std::nullopt}));
  EXPECT_EQ(spec.queueing_strategy, QueueingStrategy::kStrictFIFO);
  EXPECT_EQ(spec.preemption.within_queue, WithinQueue::kLowerPriority);
  EXPECT_EQ(spec.preemption.reclaim_within_cohort, ReclaimWithinCohort::kAny);
  EXPECT_EQ(spec.preemption.reclaim_min_runtime, std::chrono::seconds(90));
  EXPECT_EQ(spec.preemption.reclaim_timeout, std::chrono::minutes(10)) << "by default";
  EXPECT_EQ(spec.preemption.unreclaimable, Unreclaimable::kMayBorrow);
  EXPECT_EQ(spec.weight_thousandths, 250);
  EXPECT_EQ(spec.stop_policy, StopPolicy::kHold);
  EXPECT_EQ(spec.priority_classes, std::vector<std::string>()) << "none is not absent";

  std::string list =
      std::string(R"({"metadata":{"resourceVersion":"9"},"items":[)") + kQueue + "]}";
  Result<ListPage<GPUQueue>> page = decode_list<GPUQueue>(list);
  ASSERT_TRUE(page.has_value()) << describe(page.error());
  EXPECT_EQ(page->items.at(0), watched->object);
}

TEST(DecodeQueue, NamesThePathOfAWrongType) {
  std::string body = R"({"spec":{"quotas":[{"resource":"gpu","pool":"a","nominalQuota":"4"}]}})";
  Result<GPUQueue> queue = decode_object<GPUQueue>(body);
  ASSERT_FALSE(queue.has_value());
  EXPECT_EQ(queue.error().where, "spec.quotas[0].nominalQuota");
  std::string bad_status = R"({"status":{"totals":{"borrowed":"many"}}})";
  EXPECT_EQ(decode_object<GPUQueue>(bad_status).error().where, "status.totals.borrowed");
}

TEST(QueueWeight, IsExact) {
  EXPECT_EQ(parse_thousandths("1"), 1000);
  EXPECT_EQ(parse_thousandths("0"), 0);
  EXPECT_EQ(parse_thousandths("0.001"), 1);
  EXPECT_EQ(parse_thousandths("2.5"), 2500);
  EXPECT_EQ(parse_thousandths("999.999"), 999'999);
}

TEST(QueueStatus, IsWrittenAsItIsRead) {
  const GPUQueue queue = decode_queue(kQueue);
  EXPECT_EQ(decode_queue(R"({"status":)" + encode_status(queue.status) + "}").status, queue.status);
}

TEST(QueueStatus, ClearsWhatIsGoneAndKeepsToItsBounds) {
  EXPECT_EQ(encode_status_patch(decode_queue(kQueue), GPUQueueStatus()),
            R"({"metadata":{"resourceVersion":"7"},"status":{"observedGeneration":0,"totals":)"
            R"({"admitted":0,"pending":0,"borrowed":0,"used":null,"oldestPending":null},)"
            R"("usage":[],"pendingReasons":[],"pending":[],"conditions":[]}})");
  GPUQueueStatus full;
  full.pending.assign(150, PendingWorkload{.workload = "a/b", .message = std::string(300, 'm')});
  const GPUQueueStatus again = decode_queue(R"({"status":)" + encode_status(full) + "}").status;
  ASSERT_EQ(again.pending.size(), limits::kMaxPendingWorkloads);
  EXPECT_LE(again.pending.front().message.size(), 256u);
}

}  // namespace
}  // namespace berth
