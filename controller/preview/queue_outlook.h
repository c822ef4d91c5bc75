// SPDX-License-Identifier: Apache-2.0
// QueueOutlook: the queues of a cluster as it is, and after adding queues, a policy or workloads:
// which workloads start, which wait and why, and what changes. The queue engine decides it, with
// one cycle for each state. Values only; text_queues.h and json_queues.h print it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/gpu_queue.h"
#include "controller/core/cause.h"
#include "controller/core/cluster_state.h"
#include "controller/core/plan.h"
#include "controller/preview/given_workload.h"
#include "controller/preview/queue_membership.h"
#include "controller/preview/queue_picture.h"

namespace berth {

struct QuotaNumbers {  // whole numbers, except for the class `gpu`
  std::string nominal, used, borrowed, pending;
  bool operator==(const QuotaNumbers&) const = default;
};

struct QuotaChange {
  std::string resource;
  std::string pool;
  std::optional<QuotaNumbers> before, after;  // nullopt: the queue has no such quota
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
  std::optional<Cause> trouble;         // why it can't take effect as it is
  std::vector<std::string> namespaces;  // for a given queue: the namespaces that it selects
  std::vector<std::string> notes;       // for a given queue: settings without effect
  std::vector<QuotaChange> quotas;
  std::int64_t admitted = 0;                    // workloads that are already charged to it
  std::int64_t pending = 0;                     // includes those that would start
  std::vector<QueuedWorkload> starts;           // in the cycle's order of admission
  std::vector<QueuedWorkload> waits;            // oldest first, at most kMostWaiting
  std::map<std::string, std::int64_t> reasons;  // of all that wait, without those that start
};
inline constexpr std::size_t kMostWaiting = 100;

// An existing workload whose verdict changes.
struct OutcomeChange {
  std::string workload;
  std::optional<QueueVerdict> was, now;  // nullopt: in no queue
  bool loses_start() const;
};

struct DefaultChange {
  std::string namespace_;
  std::string was, now;  // queues; empty: none
};

// A workload in the manifests.
struct AskedWorkload {
  std::string workload;
  QueueVerdict verdict;                       // without a queue, reason and message say why
  std::vector<std::string> behind;            // the nearest ones before it in its queue, in order
  std::optional<queue::StartEstimate> start;  // rounded times; `begins` has them as text
  std::string begins;
  QueueAdvice advice;
};

struct QueueOutlook {
  std::vector<AskedWorkload> asked;
  std::vector<QueueSummary> queues;     // all queues, by name
  std::vector<OutcomeChange> outcomes;  // by workload
  std::vector<DefaultChange> defaults;  // by namespace

  bool changes() const;
  bool invalid() const;  // a given queue can't take effect as it is
};

struct GivenQueues {
  std::vector<GPUQueue> queues;
  std::vector<GPUClusterPolicy> policies;
  std::vector<GivenWorkload> workloads;
  std::vector<ObjectRef> deletions = {};
};
QueueOutlook foresee_queues(const ClusterState& cluster, const GivenQueues& given, Time now);

}  // namespace berth
