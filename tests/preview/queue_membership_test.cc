// SPDX-License-Identifier: Apache-2.0
// Why a workload is in no queue, and what is advised to one that waits.
#include "controller/preview/queue_membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "apis/base/reasons.h"

namespace berth {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Membership : public testing::Test {
 protected:
  Membership() {
    Namespace lab;
    lab.meta.name = "lab";
    lab.meta.labels.set("team", "nlp");
    cluster_.upsert(lab, Time());
  }
  GPUQueue& queue(const std::string& name) {
    queues_.push_back({});
    queues_.back().meta.name = queues_.back().meta.uid = name;
    return queues_.back();
  }
  QueueMembership of(const std::string& label, int gpus = 1, const char* namespace_ = "lab") {
    for (const GPUQueue& each : queues_) cluster_.upsert(each, Time());
    ObjectMeta meta;
    meta.name = "train";
    meta.namespace_ = namespace_;
    if (!label.empty()) meta.labels.set(names::kQueueLabel, label);
    PodShape shape;
    shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
    return membership_of(cluster_, cluster_.view<queue::ClusterIndex>(), meta, shape);
  }

  ClusterState cluster_;
  std::vector<GPUQueue> queues_;
};

TEST_F(Membership, ALabelThatTheNamespaceLacksIsNamedWithTheCommand) {
  queue("vision").spec.namespace_selector.emplace().match_labels["team"] = "vision";
  const QueueMembership told = of("vision");
  EXPECT_THAT(told.queue, IsEmpty());
  EXPECT_EQ(told.cause.reason, reasons::kNamespaceNotSelected);
  EXPECT_THAT(told.cause.message, HasSubstr("team=vision; namespace lab lacks team=vision"));
  EXPECT_EQ(told.advice.line, "kubectl label namespace lab team=vision --overwrite");
}

TEST_F(Membership, WhereNoLabelAloneIsMissingNoneIsAdvised) {
  queue("vision").spec.namespace_selector.emplace().match_expressions.push_back(
      {"team", SelectorOperator::kNotIn, {"nlp"}});
  const QueueMembership told = of("vision");
  EXPECT_THAT(told.cause.message, HasSubstr("namespace lab is not one of them"));
  EXPECT_THAT(told.advice.line, IsEmpty());
}

TEST_F(Membership, AQueueThatOnlyLendsIsForNobody) {
  queue("reserve");
  EXPECT_THAT(of("reserve").cause.message, HasSubstr("has no namespaceSelector"));
  EXPECT_EQ(of("reserve").advice.message,
            "name another queue, or give that one a namespaceSelector");
}

TEST_F(Membership, OfANamespaceThatIsNotReadNothingIsClaimed) {
  queue("vision").spec.namespace_selector.emplace().match_labels["team"] = "vision";
  const QueueMembership told = of("vision", 1, "elsewhere");
  EXPECT_THAT(told.cause.message, HasSubstr("is not there, or may not be read"));
  EXPECT_THAT(told.advice.line, IsEmpty());
}

TEST_F(Membership, WithoutDefaultAQueueIsNamedThatWouldDo) {
  queue("vision").spec.namespace_selector.emplace().match_labels["team"] = "vision";
  queue("nlp").spec.namespace_selector.emplace().match_labels["team"] = "nlp";
  const QueueMembership told = of("");
  EXPECT_EQ(told.cause.reason, reasons::kNoQueue);
  EXPECT_EQ(told.advice.line, "labels: {gpu.berth.dev/queue: nlp}");
  EXPECT_EQ(told.advice.message, "name a queue that selects the namespace: nlp");
}

TEST_F(Membership, WhereNoQueueWouldDoOneIsToSelectTheNamespace) {
  queue("vision").spec.namespace_selector.emplace().match_labels["team"] = "vision";
  const QueueMembership told = of("");
  EXPECT_EQ(told.cause.message, "it names no queue, and namespace lab has no default queue");
  EXPECT_EQ(told.advice.message, "let a queue select namespace lab: no queue does");
  EXPECT_EQ(told.advice.line, "");
}

TEST_F(Membership, WhatAsksForNoGPUIsLeft) {
  queue("nlp").spec.namespace_selector.emplace();
  queues_.back().spec.default_queue = true;
  EXPECT_EQ(of("", 0).cause.reason, reasons::kNoGPUs);
  EXPECT_EQ(of("", 1).queue, "nlp");
  EXPECT_EQ(of("nlp", 0).queue, "nlp");
  EXPECT_EQ(of("nlq", 0).queue, "nlq") << "its reason is QueueNotFound";
}

TEST_F(Membership, AdviceNamesTheQueueAndItsTrouble) {
  queue("held").spec.stop_policy = StopPolicy::kHold;
  GPUQueue& odd = queue("odd");
  odd.spec.quotas.push_back({"nvidia.com/gpu", "*", 4, 2, {}});  // borrows of nobody
  of("held");
  const queue::ClusterIndex& index = cluster_.view<queue::ClusterIndex>();
  const auto advice = [&](const char* queue, const char* reason) {
    return advice_for({.queue = queue, .reason = reason}, index);
  };
  EXPECT_THAT(advice("held", reasons::kQueueHeld).line, HasSubstr("kubectl patch gpuqueue held"));
  EXPECT_THAT(advice("odd", reasons::kQueueInTrouble).message,
              HasSubstr("correct GPUQueue odd: QueueInvalid: "));
  EXPECT_THAT(advice("helt", reasons::kQueueNotFound).message, HasSubstr("did you mean held?"));
  EXPECT_EQ(advice("far-away", reasons::kQueueNotFound).message,
            "create the queue, or name another");
  for (const char* reason :
       {reasons::kWaitingForGang,     reasons::kGangSizesDisagree,    reasons::kTemplateNotReady,
        reasons::kReleaseRefused,     reasons::kWaitingForOthers,     reasons::kBackingOff,
        reasons::kNotReady,           reasons::kRecordNewer,          reasons::kNoQuota,
        reasons::kExceedsAdmission,   reasons::kExceedsMaximum,       reasons::kWaitingForQuota,
        reasons::kResourceNotOffered, reasons::kWaitingForRoom,       reasons::kFragmented,
        reasons::kNodesNotSelected,   reasons::kUnknownTopologyLevel, reasons::kTopologyNeedsNodes,
        reasons::kNoTopologyDomain,   reasons::kUnplaceable,          reasons::kReserved,
        reasons::kBehindInQueue})
    EXPECT_THAT(advice("held", reason).message, Not(IsEmpty())) << reason;
  EXPECT_THAT(advice("held", reasons::kAdmissible).message, IsEmpty());
}

}  // namespace
}  // namespace berth
