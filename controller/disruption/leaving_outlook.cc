// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/leaving_outlook.h"

#include <fmt/format.h>

#include <utility>

#include "apis/base/reasons.h"
#include "controller/core/plural.h"
#include "controller/core/seeded_bugs.h"
#include "controller/queue/recall/requeue.h"

namespace berth {
namespace {

using Kind = EvictionOutlook::Kind;

std::optional<Cause> overdrawn_budget(const Snapshot& snapshot, const Job& job,
                                      const std::vector<const Pod*>& pods) {
  const auto overdraft = queue::find_overdraft(snapshot.cluster, pods);
  if (!overdraft) return std::nullopt;
  const PodDisruptionBudget& budget = *overdraft->budget;
  return Cause{reasons::kPodDisruptionBudget,
               fmt::format("PodDisruptionBudget {} keeps {} healthy, and with Job {}/{}, which its "
                           "queue takes back whole, {} would be left; berth continues once the "
                           "Job has ended or the budget keeps fewer",
                           budget.meta.name, plural(budget.desired_healthy, "pod"),
                           job.meta.namespace_.view(), job.meta.name, overdraft->left)};
}

LeavingOutlook requeue_outlook(const Snapshot& snapshot, const Job& job) {
  if (job.suspended || seeded(SeededBug::kRequeueUnasked)) return {Kind::kYes};
  const std::vector<const Pod*> pods = queue::bound_pods(snapshot.cluster, job);
  if (auto overdrawn = overdrawn_budget(snapshot, job, pods))
    return {Kind::kNo, *std::move(overdrawn)};
  LeavingOutlook all{Kind::kYes};
  for (const Pod* pod : pods) {
    if (pod->terminating()) continue;
    if (auto marked = do_not_disrupt(*pod)) return {Kind::kNo, *std::move(marked)};
    EvictionOutlook one = eviction_outlook(snapshot, *pod);
    if (one.aging || one.kind == Kind::kUnknown) all.asks.push_back(ask_of(*pod));
    if (one.kind == Kind::kNo) return {Kind::kNo, std::move(one.cause), std::move(all.asks)};
    if (one.kind == Kind::kUnknown) all.kind = Kind::kUnknown;
  }
  return all;
}

}  // namespace

LeavingOutlook leaving_outlook(const Snapshot& snapshot, const PodVerdict& verdict) {
  if (verdict.fate == PodFate::kRequeue) return requeue_outlook(snapshot, *verdict.job);
  EvictionOutlook one = eviction_outlook(snapshot, *verdict.pod);
  LeavingOutlook outlook{one.kind, std::move(one.cause)};
  const bool refused_long_ago = one.kind == Kind::kNo && one.aging;
  if (refused_long_ago || one.kind == Kind::kUnknown) outlook.asks.push_back(ask_of(*verdict.pod));
  if (verdict.look_is_due) {
    outlook.looks.push_back(*verdict.look);
    if (outlook.kind == Kind::kYes) outlook.kind = Kind::kUnknown;
  }
  return outlook;
}

}  // namespace berth
