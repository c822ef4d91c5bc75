// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/status/queue_status.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/reasons.h"
#include "controller/core/conditions.h"
#include "controller/queue/budget/budget_standing.h"
#include "controller/queue/budget/usage_ledger.h"
#include "controller/queue/cycle/words.h"
#include "controller/queue/facts/amount.h"
#include "controller/queue/recall/displaced.h"
#include "controller/queue/status/queue_conditions.h"

namespace berth::queue {
namespace {

std::int32_t as_count(std::int64_t count) {
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(count, std::numeric_limits<std::int32_t>::max()));
}

// metav1.Time has whole seconds, so finer times would differ from what the API server returns.
Time in_seconds(std::int64_t microseconds) {
  return std::chrono::floor<std::chrono::seconds>(Time(std::chrono::microseconds(microseconds)));
}

// Whether `a` is closer to its nominal quota than `b`. Use of a quota with nominal 0 comes first.
bool nearer(const QuotaReport& a, const QuotaReport& b) {
  __extension__ typedef __int128 Wide;
  if (a.nominal == 0 || b.nominal == 0) {
    const bool beyond = a.nominal == 0 && a.used > 0;
    const bool other = b.nominal == 0 && b.used > 0;
    if (beyond || other) return beyond && !other;
    return a.nominal > 0;  // no use of nominal 0 comes last
  }
  return static_cast<Wide>(a.used) * b.nominal > static_cast<Wide>(b.used) * a.nominal;
}

QueueTotals totals_of(const QueueReport& report) {
  QueueTotals totals;
  totals.admitted = as_count(report.admitted);
  totals.pending = as_count(report.pending);
  if (report.oldest) totals.oldest_pending = in_seconds(*report.oldest);
  const QuotaReport* nearest = nullptr;
  for (const QuotaReport& quota : report.quotas)
    if (nearest == nullptr || nearer(quota, *nearest)) nearest = &quota;
  if (nearest == nullptr) return totals;
  totals.used = format_amount(nearest->used, nearest->resource) + "/" +
                format_amount(nearest->nominal, nearest->resource);
  // The column has whole numbers, so a part of a GPU counts as one.
  const std::int64_t unit = nearest->resource == Catalog::kClass ? kWholeGpu : 1;
  totals.borrowed = (nearest->borrowed() + unit - 1) / unit;
  return totals;
}

QuotaUsage usage_of(const QuotaReport& quota, const Catalog& catalog) {
  const auto amount = [&](std::int64_t of) { return format_amount(of, quota.resource); };
  return {catalog.resource_name(quota.resource),
          catalog.pool_name(quota.pool),
          amount(quota.nominal),
          amount(quota.used),
          amount(quota.borrowed()),
          amount(quota.pending)};
}

// "Job/team-a/train" → "team-a/train".
std::string name_within_kind(std::string_view workload) {
  return std::string(workload.substr(workload.find('/') + 1));
}

using Told = std::map<std::string_view, const PendingWorkload*>;

// Keeps the expected start times until start_teller.h writes new ones.
void keep_estimate(const Told& before, PendingWorkload& told) {
  const auto found = before.find(told.workload);
  if (found == before.end() || found->second->waiting_since != told.waiting_since) return;
  told.earliest_start = found->second->earliest_start;
  told.latest_start = found->second->latest_start;
}

// Returns the time of the workload's own reservation. For a workload that waits behind another
// one's reservation it returns nothing.
std::optional<Time> reserved_from(const Verdict& verdict) {
  if (verdict.reason == Reason::kReserved || verdict.reserved.value_or(0) == 0) return {};
  return in_seconds(*verdict.reserved);
}

PendingWorkload pending_of(const Snapshot& snapshot, const Waiting& waiting,
                           const Catalog& catalog) {
  PendingWorkload told;
  told.workload = name_within_kind(*waiting.workload->name);
  told.pods = as_count(waiting.workload->standing.pods);
  told.waiting_since = in_seconds(waiting.workload->standing.created);
  told.position = as_count(waiting.position);
  told.reason = reason_of(waiting.outcome);
  told.message = cut_before_advice(
      describe(waiting.outcome, catalog) + describe_kept(snapshot, waiting.outcome),
      limits::kMaxMessage);
  told.reserved_from = reserved_from(waiting.outcome.verdict);
  return told;
}

GPUQueueStatus tell(const Snapshot& snapshot, const QueueReport& report, const Catalog& catalog,
                    const GPUQueueStatus& before) {
  Told estimated;
  for (const PendingWorkload& told : before.pending)
    if (told.earliest_start) estimated.emplace(told.workload, &told);
  GPUQueueStatus status;
  status.totals = totals_of(report);
  for (const QuotaReport& quota : report.quotas) status.usage.push_back(usage_of(quota, catalog));
  for (const auto& [reason, count] : report.reasons)
    status.pending_reasons.push_back({reason, as_count(count)});
  for (const Waiting& waiting : report.waiting) {
    PendingWorkload& told = status.pending.emplace_back(pending_of(snapshot, waiting, catalog));
    if (!waiting.workload->standing.waits) keep_estimate(estimated, told);
  }
  return status;
}

// Reports an event for each condition that has just become true for this reason.
std::vector<EventNote> newer_record_events(const GPUQueue& queue, const GPUQueueStatus& status) {
  std::vector<EventNote> events;
  for (const Condition& condition : status.conditions) {
    if (condition.reason != reasons::kRecordNewer || condition.status != "True") continue;
    const Condition* before = find_true(queue.status.conditions, condition.type);
    if (before == nullptr || before->reason != condition.reason)
      events.push_back(
          {ref_of(queue), true, reasons::kRecordNewer, "LeaveAlone", condition.message});
  }
  return events;
}

}  // namespace

StatusUpdate compute_queue_status(const Snapshot& snapshot, const GPUQueue& queue,
                                  const QueueFindings& findings) {
  const QueueReport* report = findings.survey.find(queue.meta.name);
  GPUQueueStatus status =
      report == nullptr ? GPUQueueStatus()
                        : tell(snapshot, *report, findings.index.facts().catalog(), queue.status);
  status.observed_generation = queue.meta.generation;
  if (const auto budget =
          budget_standing(queue, gpu_hours_in(snapshot.cluster, snapshot.settings).budgets))
    status.budget = tell_budget(*budget);
  status.conditions =
      merge_conditions(queue.status.conditions,
                       queue_conditions(snapshot, queue, status.totals, findings), snapshot.now);

  StatusUpdate update;
  update.object = ref_of(queue);
  update.urgent = !same_verdicts(status.conditions, queue.status.conditions);
  update.differs = status != queue.status;
  if (update.differs) {
    update.body = encode_status_patch(queue, status);
    update.events = newer_record_events(queue, status);
  }
  return update;
}

}  // namespace berth::queue
