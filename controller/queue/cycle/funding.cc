// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/funding.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>

#include "controller/queue/facts/leaving.h"

namespace berth::queue {
namespace {

std::string_view uid_of(const Runner& runner) {
  const Standing& standing = runner.workload->standing;
  return runner.fresh ? *standing.uid : std::string_view(standing.admission->uid);
}

bool precedes(const Runner& a, const Runner& b) {
  const auto key = [](const Runner& of) {
    return std::tuple(of.holds_too_much, -std::int64_t{of.priority}, of.since, uid_of(of),
                      std::string_view(*of.workload->name));
  };
  return key(a) < key(b);
}

}  // namespace

QueueId queue_of(const Workload& workload, const Catalog& catalog) {
  return catalog.holder_parts(workload.standing.charges.front().holder).first;
}

Funding::Funding(const FactsIndex& index, const QuotaTable& quotas, std::int64_t now,
                 const Stays& stays)
    : index_(index), quotas_(quotas), now_(now), stays_(stays) {}

// Asks once per workload, because an answer may be expensive.
bool Funding::stays(const Workload& workload) const {
  if (!workload.standing.stays) return false;
  if (!stays_) return true;
  const auto [known, fresh] = known_to_stay_.try_emplace(&workload);
  if (fresh) known->second = stays_(workload);
  return known->second;
}

bool Funding::is_gone(const Workload& workload) const {
  return (workload.standing.leaves && !hangs(workload, now_)) || gone_.contains(&workload);
}

std::vector<Runner> Funding::runners(QueueId queue) const {
  std::vector<Runner> runners;
  if (const auto of = index_.running().find(queue); of != index_.running().end()) {
    for (const Workload* workload : of->second) {
      if (is_gone(*workload) || workload->standing.leaves || stays(*workload)) continue;
      Runner& runner = runners.emplace_back();
      runner.workload = workload;
      runner.priority = workload->standing.priority;
      runner.since = workload->standing.admission->since;
      runner.holds_too_much = workload->standing.holds_too_much;
      for (const Charge& charge : workload->standing.charges)
        runner.charges.emplace_back(charge.key, charge.total);
    }
  }
  if (const auto of = fresh_.find(queue); of != fresh_.end()) {
    std::ranges::copy_if(of->second, std::back_inserter(runners),
                         [&](const Runner& fresh) { return !stays(*fresh.workload); });
    std::ranges::sort(runners, precedes);
  }
  // No admission covers all that these hold, so they come after all others.
  std::ranges::stable_partition(runners, [](const Runner& of) { return !of.holds_too_much; });
  return runners;
}

// berth can't take back workloads without an admission, workloads that hang, and workloads that
// stay. They hold the queue's quota before all others.
Funding::Sums Funding::held_first(QueueId queue) const {
  Sums sums;
  const auto add = [&](const Workload& workload) {
    for (const Charge& charge : workload.standing.charges) sums[charge.key] += charge.total;
  };
  for (const Workload* workload : index_.past_webhook())
    if (workload->standing.queue == queue && !is_gone(*workload)) add(*workload);
  for (const Workload* workload : index_.leaving()) {
    const Standing& standing = workload->standing;
    if (standing.past_webhook || standing.charges.empty() || is_gone(*workload)) continue;
    if (queue_of(*workload, index_.catalog()) == queue) add(*workload);
  }
  for (const Workload* workload : staying(queue)) add(*workload);
  if (const auto of = fresh_.find(queue); of != fresh_.end()) {
    for (const Runner& fresh : of->second) {
      if (!stays(*fresh.workload)) continue;
      for (const auto& [key, amount] : fresh.charges) sums[key] += amount;
    }
  }
  return sums;
}

std::vector<const Workload*> Funding::staying(QueueId queue) const {
  std::vector<const Workload*> found;
  if (const auto of = index_.running().find(queue); of != index_.running().end())
    std::ranges::copy_if(of->second, std::back_inserter(found), [&](const Workload* workload) {
      return !is_gone(*workload) && !workload->standing.leaves && stays(*workload);
    });
  return found;
}

bool Funding::is_beyond_nominal(const Workload& staying) const {
  const QueueId queue = queue_of(staying, index_.catalog());
  Sums sums = held_first(queue);
  return std::ranges::any_of(staying.standing.charges, [&](const Charge& charge) {
    return sums[charge.key] > nominal(queue, charge.key);
  });
}

std::int64_t Funding::nominal(QueueId queue, KeyId key) const {
  const QueueQuotas* quotas = quotas_.find(queue);
  const Quota* quota = quotas == nullptr ? nullptr : quotas->find(key);
  return quota == nullptr ? 0 : quota->nominal;
}

bool Funding::fits(QueueId queue, const Sums& sums, const Charges& charges) const {
  return std::ranges::all_of(charges, [&](const auto& charge) {
    const auto used = sums.find(charge.first);
    return charge.second == 0 ||
           (used == sums.end() ? 0 : used->second) + charge.second <= nominal(queue, charge.first);
  });
}

const std::vector<Runner>& Funding::of(QueueId queue) {
  const auto [it, fresh] = known_.try_emplace(queue);
  if (!fresh) return it->second;
  it->second = runners(queue);
  Sums sums = held_first(queue);
  for (Runner& runner : it->second) {
    runner.funded = fits(queue, sums, runner.charges);
    if (!runner.funded) continue;
    for (const auto& [key, amount] : runner.charges) sums[key] += amount;
  }
  return it->second;
}

bool Funding::would_fund(QueueId queue, std::int32_t priority, const Charges& charges) {
  Sums sums = held_first(queue);
  for (const Runner& runner : of(queue)) {
    if (runner.holds_too_much || runner.priority < priority) break;
    for (const auto& [key, amount] : runner.charges)
      if (runner.funded) sums[key] += amount;
  }
  return fits(queue, sums, charges);
}

bool Funding::would_fund(const Workload& taken_back) {
  Runner own;
  own.workload = &taken_back;
  own.priority = taken_back.standing.priority;
  own.since = taken_back.standing.admission->since;
  own.holds_too_much = taken_back.standing.holds_too_much;
  for (const Charge& charge : taken_back.standing.charges)
    own.charges.emplace_back(charge.key, charge.total);
  const QueueId queue = queue_of(taken_back, index_.catalog());
  Sums sums = held_first(queue);
  for (const Runner& runner : of(queue)) {
    if (!precedes(runner, own)) break;
    for (const auto& [key, amount] : runner.charges)
      if (runner.funded) sums[key] += amount;
  }
  return fits(queue, sums, own.charges);
}

std::vector<QueueId> Funding::queues_of(const std::string& cohort) const {
  std::vector<QueueId> queues;
  const auto is_in = [&](const Workload& workload) {
    return quotas_.cohort_of(workload.standing.charges.front().holder) == cohort;
  };
  for (const auto& [queue, running] : index_.running())
    if (std::ranges::any_of(running, [&](const Workload* of) { return is_in(*of); }))
      queues.push_back(queue);
  return queues;
}

void Funding::admitted(const Admission& admission) {
  const Standing& standing = admission.workload->standing;
  Runner& runner = fresh_[standing.queue].emplace_back();
  runner.workload = admission.workload;
  runner.priority = standing.priority;
  runner.since = now_;
  runner.charges = admission.amounts;
  runner.fresh = true;
  known_.erase(standing.queue);
}

void Funding::taken_back(const Workload& workload) {
  gone_.insert(&workload);
  // A workload without an admission may be in no queue.
  if (workload.standing.charges.empty()) return;
  known_.erase(queue_of(workload, index_.catalog()));
}

}  // namespace berth::queue
