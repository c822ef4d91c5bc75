// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/queue_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "apis/base/reasons.h"
#include "controller/queue/cycle/words.h"
#include "controller/queue/facts/capped.h"

namespace berth::queue {
namespace {

template <class Visit>
void each_pending(const PendingOfQueue& pending, const std::vector<const Workload*>& for_others,
                  Visit&& visit) {
  for (const auto& [workloads, same] : pending.ready)
    for (const Workload* workload : same.in_order) visit(*workload);
  for (const InOrder* set : {&pending.unready, &pending.left_out})
    for (const Workload* workload : *set) visit(*workload);
  for (const Workload* workload : for_others) visit(*workload);
}

}  // namespace

Survey::Survey(const FactsIndex& index, std::size_t most_waiting,
               std::optional<PreemptionTerms> terms)
    : index_(index), quotas_(index), cycle_(index, std::move(terms)) {
  cycle_.run(std::numeric_limits<std::size_t>::max());
  for (const Admission& admission : cycle_.admissions())
    admitted_.emplace(admission.workload, &admission);
  for (const Workload* workload : index.waiting_for_others())
    for_others_[workload->standing.queue].push_back(workload);
  for (const QueueQuotas& queue : quotas_.queues())
    report(queue, most_waiting, reports_[queue.fact->name]);
}

const QueueReport* Survey::find(const std::string& queue) const {
  const auto found = reports_.find(queue);
  return found == reports_.end() ? nullptr : &found->second;
}

Outcome Survey::outcome(const Workload& workload) const {
  if (workload.standing.waits)
    return {.admitted_to = std::nullopt,
            .admission = nullptr,
            .verdict = {.reason = Reason::kWaitingForOthers, .behind = &workload}};
  const auto admitted = admitted_.find(&workload);
  if (admitted != admitted_.end())
    return {.admitted_to = admitted->second->pool, .admission = admitted->second, .verdict = {}};
  return {.admitted_to = std::nullopt, .admission = nullptr, .verdict = cycle_.why(workload)};
}

void Survey::report(const QueueQuotas& queue, std::size_t most_waiting, QueueReport& out) const {
  out.admitted = index_.admitted_of(queue.id);
  for (const Quota& quota : queue.quotas)
    out.quotas.push_back({.resource = quota.resource,
                          .pool = quota.pool,
                          .nominal = quota.nominal,
                          .used = quota.used,
                          .leaving = quota.leaving,
                          .borrowing_limit = quota.borrowing_limit,
                          .lends = quota.lends,
                          .cohort_lends = quota.cohort->lent});
  static const PendingOfQueue kNone;
  static const std::vector<const Workload*> kNobody;
  const auto found = index_.pending().by_queue().find(queue.id);
  const auto others = for_others_.find(queue.id);
  const PendingOfQueue& pending =
      found == index_.pending().by_queue().end() ? kNone : found->second;
  const auto& for_others = others == for_others_.end() ? kNobody : others->second;
  count_pending(queue, pending, for_others, out);
  out.waiting = oldest_of(pending, for_others, most_waiting);
}

// Counts by class: all workloads of a class have the same outcome, except the admitted ones.
void Survey::count_pending(const QueueQuotas& queue, const PendingOfQueue& pending,
                           const std::vector<const Workload*>& for_others, QueueReport& out) const {
  const auto count = [&](const Workload& workload, const Outcome& outcome) {
    const std::int64_t since = workload.standing.created;
    if (!out.oldest || since < *out.oldest) out.oldest = since;
    ++out.pending;
    ++out.reasons[reason_of(outcome)];
  };
  Routes routes;
  for (const auto& [workloads, same] : pending.ready) {
    find_routes(queue, workloads, index_.catalog(), index_.room(), routes);
    if (!routes.open.empty())
      for (const auto& [place, amount] : routes.open.front().asks)
        out.quotas[place].pending =
            capped_sum(out.quotas[place].pending,
                       capped_product(amount, static_cast<std::int64_t>(same.in_order.size())));
    std::optional<Outcome> others;
    for (const Workload* workload : same.in_order) {
      if (admitted_.contains(workload)) {
        count(*workload, outcome(*workload));
        continue;
      }
      if (!others) others = outcome(*workload);
      count(*workload, *others);
    }
  }
  for (const InOrder* set : {&pending.unready, &pending.left_out})
    for (const Workload* workload : *set) count(*workload, outcome(*workload));
  for (const Workload* workload : for_others) count(*workload, outcome(*workload));
}

std::vector<Waiting> Survey::oldest_of(const PendingOfQueue& pending,
                                       const std::vector<const Workload*>& for_others,
                                       std::size_t most) const {
  std::vector<const Workload*> oldest;
  each_pending(pending, for_others, [&](const Workload& workload) { oldest.push_back(&workload); });
  const auto first = [](const Workload* a, const Workload* b) {
    const Standing &one = a->standing, &other = b->standing;
    return one.created != other.created ? one.created < other.created : *one.uid < *other.uid;
  };
  const std::size_t listed = std::min(most, oldest.size());
  std::partial_sort(oldest.begin(), oldest.begin() + static_cast<std::ptrdiff_t>(listed),
                    oldest.end(), first);
  oldest.resize(listed);

  // Counts how many workloads come before each listed one, in one pass. Each workload is counted at
  // the first listed workload that it precedes.
  std::vector<const Workload*> in_order = oldest;
  std::ranges::sort(in_order, ByTurn());
  std::vector<std::int64_t> before(listed + 1, 0);
  each_pending(pending, for_others, [&](const Workload& workload) {
    const auto place = std::ranges::upper_bound(in_order, &workload, ByTurn());
    ++before[static_cast<std::size_t>(place - in_order.begin())];
  });
  std::map<const Workload*, std::int64_t> positions;
  std::int64_t sum = 1;
  for (std::size_t i = 0; i < listed; ++i) positions[in_order[i]] = sum += before[i];

  std::vector<Waiting> waiting;
  for (const Workload* workload : oldest)
    waiting.push_back({workload, positions[workload], outcome(*workload)});
  return waiting;
}

std::string reason_of(const Outcome& outcome) {
  return outcome.admitted_to ? reasons::kAdmissible : to_string(outcome.verdict.reason);
}

std::string describe(const Outcome& outcome, const Catalog& catalog) {
  if (!outcome.admitted_to) return describe(outcome.verdict, catalog);
  return describe(*outcome.admission, catalog) + "; it is admitted next";
}

}  // namespace berth::queue
