// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/status/queue_conditions.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/cause.h"
#include "controller/core/plural.h"
#include "controller/core/stop.h"
#include "controller/queue/budget/budget_standing.h"
#include "controller/queue/budget/usage_ledger.h"
#include "controller/queue/status/newer_records.h"

namespace berth::queue {
namespace {

constexpr QueueReason kQueueReasons[] = {
    {reasons::kQueueActive, berth::Outlook::kReady},
    {reasons::kQueueHeld, berth::Outlook::kSuspended},
    {reasons::kQueueInvalid, berth::Outlook::kStalled},
    {reasons::kMixedQuotaUnits, berth::Outlook::kStalled},
};

constexpr char kUnfunded[] = "Unfunded";
constexpr char kNamespaceNotManaged[] = "NamespaceNotManaged";
constexpr char kDefaultContested[] = "DefaultContested";
constexpr char kNamespaceQuotaUnmet[] = "NamespaceQuotaUnmet";
constexpr char kBudgetExceeded[] = "BudgetExceeded";
constexpr char kBudgetPeriodUnclear[] = "BudgetPeriodUnclear";
constexpr char kPriorityClassNotAccepted[] = "PriorityClassNotAccepted";
constexpr char kPinBlocked[] = "PinBlocked";
constexpr char kWorkloadsLeftAlone[] = "WorkloadsLeftAlone";
constexpr QueueConcern kQueueConcerns[] = {
    {kUnfunded, reasons::kNodesOfferLess},
    {kUnfunded, reasons::kPoolUnknown},
    {kNamespaceNotManaged, reasons::kNamespaceNotManaged},
    {kDefaultContested, reasons::kDefaultContested},
    {kNamespaceQuotaUnmet, reasons::kQuotaNameTaken},
    {kNamespaceQuotaUnmet, reasons::kTighterQuota},
    {kNamespaceQuotaUnmet, reasons::kWriteRefused},
    {kBudgetExceeded, reasons::kBudgetExceeded},
    {kBudgetPeriodUnclear, reasons::kTimeZoneUnknown},
    {kPriorityClassNotAccepted, reasons::kPriorityClassNotAccepted},
    {kPinBlocked, reasons::kPinBlocked},
    {kAdmissionsPaused, reasons::kWatchBehind},
    {kAdmissionsPaused, reasons::kRecordNewer},
    {kWorkloadsLeftAlone, reasons::kRecordNewer},
    {kStoppedCondition, reasons::kOperationsStopped},
};

constexpr std::size_t kNamespacesNamed = 5;

std::string counts(const QueueTotals& totals) {
  return fmt::format("{} {} admitted, {} {}", plural(totals.admitted, "workload"),
                     word_for(totals.admitted, "is", "are"), totals.pending,
                     word_for(totals.pending, "waits", "wait"));
}

std::string told_active(const GPUQueue& queue, const QueueTotals& totals) {
  std::string text = counts(totals);
  if (!queue.spec.namespace_selector)
    text += "; without spec.namespaceSelector no namespace may use it: it only lends";
  return text;
}

// Namespaces with workloads of the queue whose pods the webhook never sees.
std::optional<Cause> not_managed(const Snapshot& snapshot, const GPUQueue& queue,
                                 const QueueFindings& findings) {
  const auto with_workloads = findings.namespaces.find(queue.meta.name);
  if (with_workloads == findings.namespaces.end()) return std::nullopt;
  std::vector<std::string> names;
  for (const std::string& name : with_workloads->second) {
    const Namespace* found = snapshot.cluster.namespaces().find(name);
    if (found != nullptr && found->meta.labels.get(names::kManagedLabel) != "true")
      names.push_back(name);
  }
  if (names.empty()) return std::nullopt;
  return Cause{
      reasons::kNamespaceNotManaged,
      fmt::format("workloads of the queue are in {} that berth leaves alone: {}; label "
                  "{} {}=true",
                  word_for(static_cast<std::int64_t>(names.size()), "a namespace", "namespaces"),
                  list_first(names, kNamespacesNamed),
                  word_for(static_cast<std::int64_t>(names.size()), "it", "them"),
                  names::kManagedLabel)};
}

std::optional<Cause> default_contested(const GPUQueue& queue, const QueueFindings& findings) {
  const auto lost = findings.lost_defaults.find(queue.meta.name);
  if (lost == findings.lost_defaults.end()) return std::nullopt;
  const std::string& first = lost->second.front();
  return Cause{reasons::kDefaultContested,
               fmt::format("an older queue is the default of {}: {} of {}; set default: false on "
                           "one of them",
                           list_first(lost->second, kNamespacesNamed),
                           findings.index.choice().default_of(first)->meta.name, first)};
}

std::optional<Cause> class_not_accepted(const GPUQueue& queue, const QueueFindings& findings) {
  const std::vector<std::string> named = findings.index.unaccepted_classes(queue.meta.name);
  if (named.empty()) return std::nullopt;
  return Cause{
      reasons::kPriorityClassNotAccepted,
      fmt::format("{} {} a PriorityClass that the queue does not accept, and berth counts "
                  "{} without that class: {}; add the class to spec.priorityClasses, or remove it",
                  plural(static_cast<std::int64_t>(named.size()), "object"),
                  word_for(static_cast<std::int64_t>(named.size()), "names", "name"),
                  word_for(static_cast<std::int64_t>(named.size()), "it", "them"),
                  list_first(named, kNamespacesNamed))};
}

}  // namespace

std::span<const QueueReason> queue_reasons() { return kQueueReasons; }
std::span<const QueueConcern> queue_concerns() { return kQueueConcerns; }

std::vector<Condition> queue_conditions(const Snapshot& snapshot, const GPUQueue& queue,
                                        const QueueTotals& totals, const QueueFindings& findings) {
  std::vector<Condition> conditions;
  const auto add = [&](const char* type, const char* status, const Cause& cause) {
    conditions.push_back({type, status, cause.reason,
                          cut_before_advice(cause.message, limits::kMaxMessage),
                          queue.meta.generation, snapshot.now});
  };
  if (const Cause* trouble = findings.index.trouble(queue.meta.name)) {
    add("Ready", "False", *trouble);
    add("Stalled", "True", *trouble);
  } else if (queue.spec.stop_policy != StopPolicy::kNone) {
    add("Ready", "False",
        {reasons::kQueueHeld, fmt::format("{}; stopPolicy {} admits nothing, None lets it go on",
                                          counts(totals), to_string(queue.spec.stop_policy))});
  } else {
    add("Ready", "True", {reasons::kQueueActive, told_active(queue, totals)});
  }
  if (const auto unfunded = findings.funding.shortfall(queue)) add(kUnfunded, "True", *unfunded);
  if (const auto outside = not_managed(snapshot, queue, findings))
    add(kNamespaceNotManaged, "True", *outside);
  if (const auto contested = default_contested(queue, findings))
    add(kDefaultContested, "True", *contested);
  if (const auto unmet = findings.unmet_quotas.find(queue.meta.name);
      unmet != findings.unmet_quotas.end())
    add(kNamespaceQuotaUnmet, "True", unmet->second);
  if (const auto exceeded =
          budget_exceeded(queue, gpu_hours_in(snapshot.cluster, snapshot.settings).budgets))
    add(kBudgetExceeded, "True", *exceeded);
  if (const auto& budget = queue.spec.budget;
      budget && snapshot.zones.find(budget->time_zone) == nullptr)
    add(kBudgetPeriodUnclear, "True",
        {reasons::kTimeZoneUnknown,
         fmt::format(
             "there is no time zone \"{}\", and spec.budget goes by UTC: write an IANA name, "
             "such as Europe/Berlin, into spec.budget.timeZone",
             budget->time_zone)});
  if (const auto unaccepted = class_not_accepted(queue, findings))
    add(kPriorityClassNotAccepted, "True", *unaccepted);
  if (const auto blocked = findings.blocked_pins.find(queue.meta.name);
      blocked != findings.blocked_pins.end())
    add(kPinBlocked, "True", blocked->second);
  if (findings.paused) add(kAdmissionsPaused, "True", *findings.paused);
  add_stopped(snapshot, queue.meta.generation, conditions);
  if (const auto left = find_left_alone(findings.index.facts(), queue.meta.name))
    add(kWorkloadsLeftAlone, "True", *left);
  return conditions;
}

}  // namespace berth::queue
