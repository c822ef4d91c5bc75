// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/gpu_queue.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "apis/kinds/status_json.h"

namespace berth {
namespace {

StatusJson encode(const QueueTotals& totals) {
  StatusJson json{{"admitted", totals.admitted}, {"pending", totals.pending}};
  if (!totals.used.empty()) json["used"] = totals.used;
  json["borrowed"] = totals.borrowed;
  if (totals.oldest_pending) json["oldestPending"] = format_time(*totals.oldest_pending);
  return json;
}

StatusJson encode(const PendingWorkload& workload) {
  StatusJson json{{"workload", workload.workload}, {"pods", workload.pods}};
  if (workload.waiting_since) json["waitingSince"] = format_time(*workload.waiting_since);
  json["position"] = workload.position;
  json["reason"] = workload.reason;
  json["message"] = clip(workload.message);
  if (workload.earliest_start) json["earliestStart"] = format_time(*workload.earliest_start);
  if (workload.latest_start) json["latestStart"] = format_time(*workload.latest_start);
  if (workload.reserved_from) json["reservedFrom"] = format_time(*workload.reserved_from);
  return json;
}

StatusJson encode(const BudgetUsage& budget) {
  StatusJson json{{"usedGPUHours", budget.used_gpu_hours},
                  {"remainingGPUHours", budget.remaining_gpu_hours}};
  if (budget.period_ends) json["periodEnds"] = format_time(*budget.period_ends);
  return json;
}

StatusJson encode(const GPUQueueStatus& status) {
  // Writes empty lists too, because a merge patch keeps fields that it does not name.
  StatusJson json{{"observedGeneration", status.observed_generation},
                  {"totals", encode(status.totals)},
                  {"usage", StatusJson::array()},
                  {"pendingReasons", StatusJson::array()},
                  {"pending", StatusJson::array()},
                  {"conditions", encode(status.conditions)}};
  if (status.budget) json["budget"] = encode(*status.budget);
  for (const QuotaUsage& usage : status.usage) {
    json["usage"].push_back({{"resource", usage.resource},
                             {"pool", usage.pool},
                             {"nominal", usage.nominal},
                             {"admitted", usage.admitted},
                             {"borrowed", usage.borrowed},
                             {"pending", usage.pending}});
  }
  const std::size_t reasons = std::min(status.pending_reasons.size(), limits::kMaxPendingReasons);
  for (std::size_t i = 0; i < reasons; ++i) {
    const ReasonCount& count = status.pending_reasons[i];
    json["pendingReasons"].push_back({{"reason", count.reason}, {"count", count.count}});
  }
  const std::size_t pending = std::min(status.pending.size(), limits::kMaxPendingWorkloads);
  for (std::size_t i = 0; i < pending; ++i) json["pending"].push_back(encode(status.pending[i]));
  return json;
}

}  // namespace

const char* to_string(QueueingStrategy value) {
  return value == QueueingStrategy::kStrictFIFO ? "StrictFIFO" : "BestEffortFIFO";
}

const char* to_string(WithinQueue value) {
  return value == WithinQueue::kLowerPriority ? "LowerPriority" : "Never";
}

const char* to_string(ReclaimWithinCohort value) {
  switch (value) {
    case ReclaimWithinCohort::kLowerPriority:
      return "LowerPriority";
    case ReclaimWithinCohort::kAny:
      return "Any";
    default:
      return "Never";
  }
}

const char* to_string(Unreclaimable value) {
  return value == Unreclaimable::kMayBorrow ? "MayBorrow" : "WithinNominalQuota";
}

const char* to_string(QueuePlacement value) {
  return value == QueuePlacement::kNone ? "None" : "Nodes";
}

const char* to_string(StopPolicy value) {
  switch (value) {
    case StopPolicy::kHold:
      return "Hold";
    case StopPolicy::kHoldAndDrain:
      return "HoldAndDrain";
    default:
      return "None";
  }
}

const char* to_string(BudgetPeriod value) {
  switch (value) {
    case BudgetPeriod::kDay:
      return "Day";
    case BudgetPeriod::kWeek:
      return "Week";
    default:
      return "Month";
  }
}

const char* to_string(WhenExceeded value) { return value == WhenExceeded::kHold ? "Hold" : "Warn"; }

std::int64_t parse_thousandths(const std::string& text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + point, value);
  value *= 1000;
  std::int64_t unit = 100;
  for (std::size_t i = point + 1; i < text.size(); ++i, unit /= 10) value += (text[i] - '0') * unit;
  return value;
}

std::string encode_status(const GPUQueueStatus& status) { return dump(encode(status)); }

std::string encode_status_patch(const GPUQueue& read, const GPUQueueStatus& after) {
  StatusJson status = encode(after);
  StatusJson& totals = status["totals"];
  const StatusJson before = encode(read.status.totals);
  for (auto it = before.begin(); it != before.end(); ++it) {
    if (!totals.contains(it.key())) totals[it.key()] = nullptr;
  }
  if (read.status.budget && !after.budget) status["budget"] = nullptr;
  return dump_status_patch(read.meta, std::move(status));
}

}  // namespace berth
