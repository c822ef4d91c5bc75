// SPDX-License-Identifier: Apache-2.0
// GPUQueue (gpu.berth.dev/v1alpha1): how many GPUs of which kind a team may hold, what it lends and
// borrows, and which workload is admitted first. crds/gpu.berth.dev_gpuqueues.yaml describes the
// fields for `kubectl explain`. docs/queue-rules.md describes how they act together. Defaults and
// bounds are here and in gpu_queue_fields.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/result.h"
#include "apis/base/selector.h"
#include "apis/kinds/meta.h"

namespace berth {

struct QuotaSpec {
  std::string resource;  // an extended resource, or `gpu`: whole-GPU equivalents of all GPUs
  std::string pool;      // a pool of the GPUClusterPolicy, or "*": any
  std::int64_t nominal_quota = 0;
  std::optional<std::int64_t> borrowing_limit;  // absent: all that the cohort lends
  std::optional<std::int64_t> lending_limit;    // absent: all of nominal_quota
  bool operator==(const QuotaSpec&) const = default;
};

enum class QueueingStrategy { kBestEffortFIFO, kStrictFIFO };
enum class WithinQueue { kNever, kLowerPriority };
enum class ReclaimWithinCohort { kNever, kLowerPriority, kAny };
enum class Unreclaimable { kWithinNominalQuota, kMayBorrow };
enum class QueuePlacement { kNodes, kNone };
enum class StopPolicy { kNone, kHold, kHoldAndDrain };
enum class BudgetPeriod { kDay, kWeek, kMonth };
enum class WhenExceeded { kWarn, kHold };

struct QueuePreemption {
  WithinQueue within_queue = WithinQueue::kNever;
  ReclaimWithinCohort reclaim_within_cohort = ReclaimWithinCohort::kNever;
  Duration preempt_min_runtime{};
  Duration reclaim_min_runtime{};
  Duration notice_period{};
  Duration reclaim_timeout = std::chrono::minutes(10);
  Unreclaimable unreclaimable = Unreclaimable::kWithinNominalQuota;
  bool operator==(const QueuePreemption&) const = default;
};

struct QueueTopology {  // label keys; at most one of the two is set
  std::string required;
  std::string preferred;
  bool operator==(const QueueTopology&) const = default;
};

struct NamespaceQuotaSpec {
  bool enabled = false;
  std::map<std::string, std::int64_t> hard;         // "requests.nvidia.com/gpu" → count
  std::map<std::string, std::int64_t> max_per_pod;  // "nvidia.com/gpu" → count
  bool operator==(const NamespaceQuotaSpec&) const = default;
};

struct BudgetSpec {
  std::int64_t gpu_hours_thousandths = 0;  // of whole-GPU equivalents
  BudgetPeriod period = BudgetPeriod::kMonth;
  std::string time_zone = "UTC";  // a period begins at midnight there
  WhenExceeded when_exceeded = WhenExceeded::kWarn;
  bool operator==(const BudgetSpec&) const = default;
};

struct GPUQueueSpec {
  std::string cohort_name;                          // empty: a cohort of its own
  std::optional<LabelSelector> namespace_selector;  // absent: no namespace
  bool default_queue = false;
  std::vector<QuotaSpec> quotas;  // in order of preference of pools
  QueueingStrategy queueing_strategy = QueueingStrategy::kBestEffortFIFO;
  QueuePreemption preemption;
  std::int64_t weight_thousandths = 1000;  // fairSharing.weight × 1000
  std::optional<Duration> reserve_after;   // absent: never
  QueueTopology topology;
  NamespaceQuotaSpec namespace_quota;
  QueuePlacement placement = QueuePlacement::kNodes;
  Duration placement_timeout = std::chrono::minutes(5);
  std::optional<Duration> pods_ready_timeout;  // absent: never
  std::optional<Duration> force_delete_after;  // for pods on dead nodes; absent: never
  std::optional<BudgetSpec> budget;            // absent: no limit over time
  // The classes that its workloads may name; absent: those of the GPUClusterPolicy.
  std::optional<std::vector<std::string>> priority_classes;
  StopPolicy stop_policy = StopPolicy::kNone;
  bool operator==(const GPUQueueSpec&) const = default;
};

struct QueueTotals {
  std::int32_t admitted = 0;  // workloads
  std::int32_t pending = 0;
  std::string used;                    // "12/16": the quota that is used most
  std::int64_t borrowed = 0;           // from that quota
  std::optional<Time> oldest_pending;  // absent: no workload is pending
  bool operator==(const QueueTotals&) const = default;
};

struct QuotaUsage {
  std::string resource;
  std::string pool;
  std::string nominal;  // strings, because whole-GPU equivalents have fractions
  std::string admitted;
  std::string borrowed;
  std::string pending;
  bool operator==(const QuotaUsage&) const = default;
};

struct ReasonCount {
  std::string reason;
  std::int32_t count = 0;
  bool operator==(const ReasonCount&) const = default;
};

struct PendingWorkload {
  std::string workload;  // namespace/name
  std::int32_t pods = 0;
  std::optional<Time> waiting_since;
  std::int32_t position = 0;  // from 1
  std::string reason;
  std::string message;
  // The expected start, if all workloads end in their declared time. If latest_start is absent,
  // berth can't estimate it; if both are absent, not the earliest start either.
  std::optional<Time> earliest_start;
  std::optional<Time> latest_start;
  // berth reserves free GPUs and quota for it, at the latest from this time on. Absent: berth
  // reserves nothing, or can't estimate the time.
  std::optional<Time> reserved_from;
  bool operator==(const PendingWorkload&) const = default;
};

struct BudgetUsage {  // in the current period, rounded to a hundredth of the budget
  std::string used_gpu_hours;
  std::string remaining_gpu_hours;
  std::optional<Time> period_ends;
  bool operator==(const BudgetUsage&) const = default;
};

struct GPUQueueStatus {
  std::int64_t observed_generation = 0;
  QueueTotals totals;
  std::vector<QuotaUsage> usage;
  std::optional<BudgetUsage> budget;  // absent: the queue has none
  std::vector<ReasonCount> pending_reasons;
  std::vector<PendingWorkload> pending;  // at most 100, oldest first
  std::vector<Condition> conditions;     // Ready always; Reconciling and Stalled only while True
  bool operator==(const GPUQueueStatus&) const = default;
};

struct GPUQueue {
  ObjectMeta meta;
  GPUQueueSpec spec;
  GPUQueueStatus status;
  bool operator==(const GPUQueue&) const = default;
};
template <>
inline constexpr KindInfo kKind<GPUQueue>{"gpu.berth.dev", "v1alpha1", "gpuqueues", "GPUQueue",
                                          false};

const char* to_string(QueueingStrategy value);
const char* to_string(WithinQueue value);
const char* to_string(ReclaimWithinCohort value);
const char* to_string(Unreclaimable value);
const char* to_string(QueuePlacement value);
const char* to_string(StopPolicy value);
const char* to_string(BudgetPeriod value);
const char* to_string(WhenExceeded value);

// The CRD has the same bounds; a test compares them.
namespace limits {
inline constexpr std::int64_t kMaxQueueName = 63;  // pods carry it in a label
inline constexpr std::int64_t kMaxQuotas = 64;
// For one entry. Sums over ten thousand queues, in millionths of a GPU and multiplied by a share's
// denominator and weight, then still fit into 128 bits.
inline constexpr std::int64_t kMaxQuota = 1'000'000;
inline constexpr std::int64_t kMaxQueueResources = 32;  // for hard, and for maxPerPod
inline constexpr std::int64_t kMaxAcceptedClasses = 64;
inline constexpr std::size_t kMaxPendingWorkloads = 100;
inline constexpr std::size_t kMaxPendingReasons = 32;
}  // namespace limits

// The CRD's cross-field rules in CEL, in the same words. {} if the object obeys all of them.
std::vector<Error> check_rules(const GPUQueue& queue);

// "1", "0.5", "2.125" → thousandths. The field table must have accepted the text.
std::int64_t parse_thousandths(const std::string& text);

// The status as JSON of the API, for a merge patch on the status subresource.
std::string encode_status(const GPUQueueStatus& status);
// The whole body of that merge patch. Its precondition is the resourceVersion of `read`. It sets
// fields that are no longer in the status to null, because the server would keep them otherwise.
std::string encode_status_patch(const GPUQueue& read, const GPUQueueStatus& after);

}  // namespace berth
