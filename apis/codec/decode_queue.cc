// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode_queue.h"

#include "apis/codec/decode_custom.h"
#include "apis/kinds/gpu_queue_fields.h"

namespace berth {
namespace {

void read(const JsonCursor& item, QuotaSpec& out) {
  item["resource"].read(out.resource);
  item["pool"].read(out.pool);
  item["nominalQuota"].read(out.nominal_quota);
  item["borrowingLimit"].read(out.borrowing_limit);
  item["lendingLimit"].read(out.lending_limit);
}

void read(const JsonCursor& preemption, QueuePreemption& out) {
  read_enum(preemption["withinQueue"], out.within_queue,
            {WithinQueue::kNever, WithinQueue::kLowerPriority});
  read_enum(preemption["reclaimWithinCohort"], out.reclaim_within_cohort,
            {ReclaimWithinCohort::kNever, ReclaimWithinCohort::kLowerPriority,
             ReclaimWithinCohort::kAny});
  preemption["preemptMinRuntime"].read(out.preempt_min_runtime);
  preemption["reclaimMinRuntime"].read(out.reclaim_min_runtime);
  preemption["noticePeriod"].read(out.notice_period);
  preemption["reclaimTimeout"].read(out.reclaim_timeout);
  read_enum(preemption["unreclaimable"], out.unreclaimable,
            {Unreclaimable::kWithinNominalQuota, Unreclaimable::kMayBorrow});
}

void read(const JsonCursor& quota, NamespaceQuotaSpec& out) {
  quota["enabled"].read(out.enabled);
  quota["hard"].read(out.hard);
  quota["maxPerPod"].read(out.max_per_pod);
}

void read(const JsonCursor& budget, BudgetSpec& out) {
  std::string hours;
  budget["gpuHours"].read(hours);
  out.gpu_hours_thousandths = parse_thousandths(hours);
  read_enum(budget["period"], out.period,
            {BudgetPeriod::kDay, BudgetPeriod::kWeek, BudgetPeriod::kMonth});
  budget["timeZone"].read(out.time_zone);
  read_enum(budget["whenExceeded"], out.when_exceeded, {WhenExceeded::kWarn, WhenExceeded::kHold});
}

void read(const JsonCursor& budget, BudgetUsage& out) {
  budget["usedGPUHours"].read(out.used_gpu_hours);
  budget["remainingGPUHours"].read(out.remaining_gpu_hours);
  budget["periodEnds"].read(out.period_ends);
}

void read(const JsonCursor& totals, QueueTotals& out) {
  totals["admitted"].read(out.admitted);
  totals["pending"].read(out.pending);
  totals["used"].read(out.used);
  totals["borrowed"].read(out.borrowed);
  totals["oldestPending"].read(out.oldest_pending);
}

void read(const JsonCursor& item, QuotaUsage& out) {
  item["resource"].read(out.resource);
  item["pool"].read(out.pool);
  item["nominal"].read(out.nominal);
  item["admitted"].read(out.admitted);
  item["borrowed"].read(out.borrowed);
  item["pending"].read(out.pending);
}

void read(const JsonCursor& item, PendingWorkload& out) {
  item["workload"].read(out.workload);
  item["pods"].read(out.pods);
  item["waitingSince"].read(out.waiting_since);
  item["position"].read(out.position);
  item["reason"].read(out.reason);
  item["message"].read(out.message);
  item["earliestStart"].read(out.earliest_start);
  item["latestStart"].read(out.latest_start);
  item["reservedFrom"].read(out.reserved_from);
}

void read(const JsonCursor& status, GPUQueueStatus& out) {
  status["observedGeneration"].read(out.observed_generation);
  read(status["totals"], out.totals);
  for (const JsonCursor& item : status["usage"].items()) read(item, out.usage.emplace_back());
  if (status["budget"].present()) read(status["budget"], out.budget.emplace());
  for (const JsonCursor& item : status["pendingReasons"].items()) {
    ReasonCount& count = out.pending_reasons.emplace_back();
    item["reason"].read(count.reason);
    item["count"].read(count.count);
  }
  for (const JsonCursor& item : status["pending"].items()) read(item, out.pending.emplace_back());
  read_conditions(status["conditions"], out.conditions);
}

void read(const JsonCursor& cursor, std::optional<Duration>& out) {
  if (cursor.present()) cursor.read(out.emplace());
}

}  // namespace

void read_spec(const JsonCursor& spec, GPUQueueSpec& out) {
  spec["cohortName"].read(out.cohort_name);
  spec["namespaceSelector"].read(out.namespace_selector);
  spec["default"].read(out.default_queue);
  for (const JsonCursor& item : spec["quotas"].items()) read(item, out.quotas.emplace_back());
  read_enum(spec["queueingStrategy"], out.queueing_strategy,
            {QueueingStrategy::kBestEffortFIFO, QueueingStrategy::kStrictFIFO});
  read(spec["preemption"], out.preemption);
  if (const JsonCursor weight = spec["fairSharing"]["weight"]; weight.present()) {
    std::string text;
    weight.read(text);
    out.weight_thousandths = parse_thousandths(text);
  }
  read(spec["reserveAfter"], out.reserve_after);
  spec["topology"]["required"].read(out.topology.required);
  spec["topology"]["preferred"].read(out.topology.preferred);
  read(spec["namespaceQuota"], out.namespace_quota);
  read_enum(spec["placement"], out.placement, {QueuePlacement::kNodes, QueuePlacement::kNone});
  spec["placementTimeout"].read(out.placement_timeout);
  read(spec["forceDeleteAfter"], out.force_delete_after);
  read(spec["podsReadyTimeout"], out.pods_ready_timeout);
  if (spec["budget"].present()) read(spec["budget"], out.budget.emplace());
  if (const JsonCursor classes = spec["priorityClasses"]; classes.present())
    classes.read(out.priority_classes.emplace());
  read_enum(spec["stopPolicy"], out.stop_policy,
            {StopPolicy::kNone, StopPolicy::kHold, StopPolicy::kHoldAndDrain});
}

void read(JsonCursor object, GPUQueue& out) {
  object["metadata"].read(out.meta);
  if (!check_spec(object, queue_spec_field())) return;
  read_spec(object["spec"], out.spec);
  read(object["status"], out.status);
}

}  // namespace berth
