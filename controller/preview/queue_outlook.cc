// SPDX-License-Identifier: Apache-2.0
// Outline: apply everything to a copy of the cluster and run a cycle on both. Then compare queue by
// queue, workload by workload, and the namespaces' defaults. Last come the workloads in the
// manifests.
#include "controller/preview/queue_outlook.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/preview/applied.h"
#include "controller/preview/words.h"
#include "controller/queue/facts/amount.h"

namespace berth {
namespace {

using queue::Catalog;

// The most workloads ahead to name.
constexpr std::size_t kMostBehind = 3;

// The policy's reconciler creates these; workloads name them in a label.
void put_priority_classes(const GPUClusterPolicy& policy, ClusterState& cluster, Time now) {
  for (const PriorityClassSpec& spec : policy.spec.priority_classes) {
    if (cluster.priority_classes().find(spec.name) != nullptr) continue;
    PriorityClass made;
    made.meta.name = spec.name;
    made.meta.uid = "what-if-" + spec.name;
    made.value = spec.value;
    cluster.upsert(std::move(made), now);
  }
}

ClusterState with(const ClusterState& cluster, const GivenQueues& given, Time now) {
  ClusterState next = cluster;
  for (const GPUClusterPolicy& policy : given.policies) {
    next.upsert(applied(policy, next, now), now);
    put_priority_classes(policy, next, now);
  }
  for (const GPUQueue& queue : given.queues) next.upsert(applied(queue, next, now), now);
  for (const ObjectRef& object : given.deletions) {
    if (object.kind == kKind<GPUQueue>.kind) next.erase<GPUQueue>("", object.name);
    if (object.kind == kKind<GPUClusterPolicy>.kind) next.erase<GPUClusterPolicy>("", object.name);
  }
  Time made = now;  // one after another, as kubectl creates them
  for (const GivenWorkload& workload : given.workloads)
    put_workload(workload, next, made += std::chrono::microseconds(1));
  return next;
}

class Outlook {
 public:
  Outlook(const ClusterState& cluster, const ClusterState& next, const GivenQueues& given, Time now)
      : cluster_(cluster),
        next_(next),
        given_(given),
        now_(now.time_since_epoch().count()),
        before_(cluster, now),
        after_(next, now) {}
  QueueOutlook see() const;

 private:
  QueueSummary summarize(const GPUQueue& queue) const;
  QueueSummary summarize_deleted(const GPUQueue& queue) const;
  void note_given(const GPUQueue& queue, QueueSummary& out) const;
  std::vector<QuotaChange> quotas_of(const std::string& queue) const;
  void note_starts(std::vector<QueueSummary>& queues) const;
  void note_waits(QueueSummary& out) const;
  std::vector<OutcomeChange> outcomes() const;
  std::vector<DefaultChange> defaults() const;
  std::vector<AskedWorkload> asked() const;
  AskedWorkload ask(const GivenWorkload& given) const;

  const ClusterState& cluster_;
  const ClusterState& next_;
  const GivenQueues& given_;
  std::int64_t now_;
  QueuePicture before_, after_;
};

QueueOutlook Outlook::see() const {
  QueueOutlook out;
  for (const auto& [name, queue] : after_.index().choice().queues())
    out.queues.push_back(summarize(*queue));
  for (const auto& [name, queue] : before_.index().choice().queues())
    if (next_.gpu_queues().find(name) == nullptr) out.queues.push_back(summarize_deleted(*queue));
  std::ranges::sort(out.queues, {}, &QueueSummary::name);
  note_starts(out.queues);
  out.outcomes = outcomes();
  out.defaults = defaults();
  out.asked = asked();
  return out;
}

QueueSummary Outlook::summarize(const GPUQueue& queue) const {
  const std::string& name = queue.meta.name;
  QueueSummary out{.name = name, .cohort = queue.spec.cohort_name};
  out.given = std::ranges::any_of(given_.queues,
                                  [&](const GPUQueue& given) { return given.meta.name == name; });
  const GPUQueue* standing = cluster_.store<GPUQueue>().find(name);
  out.created = standing == nullptr;
  out.edited = standing != nullptr && standing->spec != queue.spec;
  if (const Cause* trouble = after_.index().trouble(name)) out.trouble = *trouble;
  if (out.given) note_given(queue, out);
  out.quotas = quotas_of(name);
  if (const queue::QueueReport* report = after_.survey().find(name)) {
    out.admitted = report->admitted;
    out.pending = report->pending;
    out.reasons = report->reasons;
    out.reasons.erase(reasons::kAdmissible);
  }
  note_waits(out);
  return out;
}

QueueSummary Outlook::summarize_deleted(const GPUQueue& queue) const {
  QueueSummary out{.name = queue.meta.name, .cohort = queue.spec.cohort_name, .deleted = true};
  out.quotas = quotas_of(out.name);
  if (const queue::QueueReport* report = before_.survey().find(out.name)) {
    out.admitted = report->admitted;
    out.pending = report->pending;
  }
  return out;
}

void Outlook::note_given(const GPUQueue& queue, QueueSummary& out) const {
  const queue::QueueChoice& choice = after_.index().choice();
  for (const auto& namespace_ : next_.namespaces())
    if (choice.selects(out.name, namespace_->meta.name))
      out.namespaces.push_back(namespace_->meta.name);
  const std::vector<std::string> pools = after_.index().pools();
  std::set<std::string> unknown;
  for (const QuotaSpec& quota : queue.spec.quotas)
    if (quota.pool != queue::kAnyPool && std::ranges::find(pools, quota.pool) == pools.end())
      unknown.insert(quota.pool);
  for (const std::string& pool : unknown)
    out.notes.push_back(
        fmt::format("the GPUClusterPolicy has no pool {}: that quota has no nodes", pool));
  const queue::NamesByQueue all_lost = choice.lost_defaults();
  const auto lost = all_lost.find(queue.meta.name);
  for (const std::string& namespace_ :
       lost == all_lost.end() ? std::vector<std::string>() : lost->second)
    out.notes.push_back(fmt::format("namespace {} keeps GPUQueue {} as its default: it is older",
                                    namespace_, choice.default_of(namespace_)->meta.name));
  if (!queue.spec.namespace_selector)
    out.notes.emplace_back("without namespaceSelector it only lends");
  else if (out.namespaces.empty())
    out.notes.push_back(fmt::format("no namespace matches its namespaceSelector: {}",
                                    format(*queue.spec.namespace_selector)));
}

// In the queue's present order, then removed quotas.
std::vector<QuotaChange> Outlook::quotas_of(const std::string& queue) const {
  std::vector<QuotaChange> rows;
  const auto enter = [&](const QueuePicture& picture,
                         std::optional<QuotaNumbers> QuotaChange::*at) {
    const queue::QueueReport* report = picture.survey().find(queue);
    const Catalog& catalog = picture.index().facts().catalog();
    if (report == nullptr) return;
    for (const queue::QuotaReport& quota : report->quotas) {
      const std::string& resource = catalog.resource_name(quota.resource);
      const std::string& pool = catalog.pool_name(quota.pool);
      auto row = std::ranges::find_if(
          rows, [&](const QuotaChange& r) { return r.resource == resource && r.pool == pool; });
      if (row == rows.end()) row = rows.insert(rows.end(), {.resource = resource, .pool = pool});
      const auto text = [&](std::int64_t n) { return queue::format_amount(n, quota.resource); };
      (*row).*at = QuotaNumbers{text(quota.nominal), text(quota.used), text(quota.borrowed()),
                                text(quota.pending)};
    }
  };
  enter(after_, &QuotaChange::after);
  enter(before_, &QuotaChange::before);
  return rows;
}

void Outlook::note_starts(std::vector<QueueSummary>& queues) const {
  for (const queue::Admission& admission : after_.survey().cycle().admissions()) {
    const std::string& workload = *admission.workload->name;
    const QueueVerdict* verdict = after_.find(workload);
    const auto queue = std::ranges::find(queues, verdict->queue, &QueueSummary::name);
    queue->starts.push_back({workload, *verdict});
  }
}

void Outlook::note_waits(QueueSummary& out) const {
  const queue::QueueReport* report = after_.survey().find(out.name);
  if (report == nullptr) return;
  for (const queue::Waiting& each : report->waiting) {
    if (each.outcome.admitted_to) continue;
    if (out.waits.size() == kMostWaiting) return;
    out.waits.push_back({*each.workload->name, *after_.find(*each.workload->name)});
  }
}

bool alike(const QueueVerdict& a, const QueueVerdict& b) {
  return a.queue == b.queue && a.reason == b.reason && a.pool == b.pool;
}

std::vector<OutcomeChange> Outlook::outcomes() const {
  std::set<std::string> new_ones;
  for (const GivenWorkload& workload : given_.workloads) new_ones.insert(workload_name(workload));
  std::map<std::string, OutcomeChange> changes;
  for (const auto& [workload, verdict] : before_.waiting()) changes[workload].was = verdict;
  for (const auto& [workload, verdict] : after_.waiting()) changes[workload].now = verdict;
  std::vector<OutcomeChange> out;
  for (auto& [workload, change] : changes) {
    if (new_ones.contains(workload)) continue;
    if (change.was && change.now && alike(*change.was, *change.now)) continue;
    change.workload = workload;
    out.push_back(std::move(change));
  }
  return out;
}

std::vector<DefaultChange> Outlook::defaults() const {
  const auto default_of = [](const QueuePicture& picture, const std::string& namespace_) {
    const GPUQueue* queue = picture.index().choice().default_of(namespace_);
    return queue == nullptr ? std::string() : queue->meta.name;
  };
  std::vector<DefaultChange> out;
  for (const auto& namespace_ : next_.namespaces()) {
    const std::string& name = namespace_->meta.name;
    DefaultChange change{name, default_of(before_, name), default_of(after_, name)};
    if (change.was != change.now) out.push_back(std::move(change));
  }
  return out;
}

// The pods of a group are one workload.
std::vector<AskedWorkload> Outlook::asked() const {
  std::vector<AskedWorkload> out;
  std::set<std::string> seen;
  for (const GivenWorkload& workload : given_.workloads)
    if (seen.insert(workload_name(workload)).second) out.push_back(ask(workload));
  return out;
}

AskedWorkload Outlook::ask(const GivenWorkload& given) const {
  AskedWorkload out{.workload = workload_name(given)};
  if (const QueueVerdict* verdict = after_.find(out.workload)) {
    out.verdict = *verdict;
    out.behind = after_.before(out.workload, kMostBehind);
    out.advice = advice_for(*verdict, after_.index());
    if (const auto start = after_.start_of(out.workload)) {
      out.start = queue::coarse(*start, now_);
      out.begins = after_.when_it_begins(out.workload);
    }
    return out;
  }
  QueueMembership membership = membership_of(next_, after_.index(), given.meta(), given.shape());
  out.verdict.queue = std::move(membership.queue);
  out.verdict.reason = std::move(membership.cause.reason);
  out.verdict.message = std::move(membership.cause.message);
  out.advice = std::move(membership.advice);
  if (out.verdict.queue.empty()) return out;
  const bool held = given.meta().annotations.contains(names::kHoldAnnotation);
  out.verdict.message =
      held ? fmt::format("annotation {} keeps it out of the queue", names::kHoldAnnotation)
           : "it waits for nothing: it asks for no pods, or is part of what runs already";
  return out;
}

}  // namespace

bool OutcomeChange::loses_start() const {
  return was && was->admissible() && !(now && now->admissible());
}

bool QueueOutlook::changes() const {
  const auto differs = [](const QuotaChange& row) { return row.before != row.after; };
  const auto changes_of = [&](const QueueSummary& queue) {
    return queue.created || queue.edited || queue.deleted ||
           std::ranges::any_of(queue.quotas, differs);
  };
  return !outcomes.empty() || !defaults.empty() || std::ranges::any_of(queues, changes_of) ||
         std::ranges::any_of(asked,
                             [](const AskedWorkload& each) { return !each.verdict.queue.empty(); });
}

bool QueueOutlook::invalid() const {
  return std::ranges::any_of(
      queues, [](const QueueSummary& queue) { return queue.given && queue.trouble; });
}

QueueOutlook foresee_queues(const ClusterState& cluster, const GivenQueues& given, Time now) {
  const ClusterState next = with(cluster, given, now);
  return Outlook(cluster, next, given, now).see();
}

}  // namespace berth
