// SPDX-License-Identifier: Apache-2.0
// QueueOutlook: how the queues stand with a cluster as it is, and with some queues, a policy or
// workloads put into it: who would start, who waits and why, and for whom that changes. Decided by
// the engine itself, in one cycle each. Values only; text_queues.h and json_queues.h print it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apis/gpu_cluster_policy.h"
#include "apis/gpu_queue.h"
#include "controller/core/cause.h"
#include "controller/core/cluster_state.h"
#include "controller/core/plan.h"
#include "controller/preview/given_workload.h"
#include "controller/preview/queue_membership.h"
#include "controller/preview/queue_picture.h"

namespace berth {

struct QuotaNumbers {  // whole numbers, but of the class `gpu`
  std::string nominal, used, borrowed, pending;
  bool operator==(const QuotaNumbers&) const = default;
};

struct QuotaChange {
  std::string resource;
  std::string pool;
  std::optional<QuotaNumbers> before, after;  // nothing: the queue has no such quota
};

struct QueuedWorkload {
  std::string workload;
  QueueVerdict verdict;
};

struct QueueSummary {
  std::string name;
  std::string cohort;
  bool given = false;
  bool created = false;
  bool edited = false;
  bool deleted = false;                 // its counts are from before
  std::optional<Cause> trouble;         // why it can't be acted on as it is written
  std::vector<std::string> namespaces;  // of a given one: those that it selects
  std::vector<std::string> notes;       // of a given one: what it says that comes to nothing
  std::vector<QuotaChange> quotas;
  std::int64_t admitted = 0;                    // workloads that are charged to it already
  std::int64_t pending = 0;                     // those that would start among them
  std::vector<QueuedWorkload> starts;           // in the order in which the cycle admits them
  std::vector<QueuedWorkload> waits;            // the oldest first, at most kMostWaiting
  std::map<std::string, std::int64_t> reasons;  // of all that wait, of starts none
};
inline constexpr std::size_t kMostWaiting = 100;

// A workload that was there before, and is told another thing now.
struct OutcomeChange {
  std::string workload;
  std::optional<QueueVerdict> was, now;  // nothing: in no queue
  bool loses_start() const;
};

struct DefaultChange {
  std::string namespace_;
  std::string was, now;  // queues; empty: none
};

// One that the manifests hold.
struct AskedWorkload {
  std::string workload;
  QueueVerdict verdict;                       // without a queue: reason and message say why
  std::vector<std::string> behind;            // the nearest before it in its queue, in order
  std::optional<queue::StartEstimate> start;  // in coarse times; its words are `begins`
  std::string begins;
  QueueAdvice advice;
};

struct QueueOutlook {
  std::vector<AskedWorkload> asked;
  std::vector<QueueSummary> queues;     // by name, every one
  std::vector<OutcomeChange> outcomes;  // by workload
  std::vector<DefaultChange> defaults;  // by namespace

  bool changes() const;
  bool invalid() const;  // a given queue can't be acted on as it is written
};

struct GivenQueues {
  std::vector<GPUQueue> queues;
  std::vector<GPUClusterPolicy> policies;
  std::vector<GivenWorkload> workloads;
  std::vector<ObjectRef> deletions = {};
};
QueueOutlook foresee_queues(const ClusterState& cluster, const GivenQueues& given, Time now);

}  // namespace berth
