// SPDX-License-Identifier: Apache-2.0
// Outline: whose start is to be told by now; what is told of it already and still holds; the rest
// of the status as it stands.
#include <algorithm>
#include <chrono>

#include "controller/queue/cluster_index.h"
#include "controller/queue/reconcile.h"
#include "controller/queue/start_estimates.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using queue::StartEstimate;

// As for reasons: what starts within a minute is told nothing.
constexpr Duration kEstimatedAfter = 1min;
constexpr Duration kBetweenEstimates = 1min;

Time second_of(std::int64_t microseconds) {
  return std::chrono::floor<std::chrono::seconds>(Time(std::chrono::microseconds(microseconds)));
}

bool waits_long(const PendingWorkload& told, Time now) {
  return told.waiting_since && now - *told.waiting_since >= kEstimatedAfter;
}

// "team-a/train" that waits in the queue since then. Null: not any more.
const queue::Workload* find_waiting(const PendingWorkload& told, const queue::FactsIndex& facts) {
  for (const char* kind : {"Job/", "PodGroup/", "Pod/"}) {
    const queue::Workload* found = facts.find(kind + told.workload);
    if (found != nullptr && found->standing.pending &&
        second_of(found->standing.created) == told.waiting_since)
      return found;
  }
  return nullptr;
}

std::optional<std::int64_t> microseconds_of(const std::optional<Time>& at) {
  return at ? std::optional<std::int64_t>(at->time_since_epoch().count()) : std::nullopt;
}

void tell_start(const StartEstimate& estimate, PendingWorkload& told) {
  const StartEstimate before{.earliest = microseconds_of(told.earliest_start),
                             .latest = microseconds_of(told.latest_start)};
  if (still_tells(before, estimate)) return;
  told.earliest_start = told.latest_start = std::nullopt;
  if (estimate.earliest) told.earliest_start = second_of(*estimate.earliest);
  if (estimate.latest) told.latest_start = second_of(*estimate.latest);
}

}  // namespace

Plan reconcile_estimates(const Snapshot& snapshot) {
  Plan plan;
  if (snapshot.offline) return plan;
  const auto waits = [&](const PendingWorkload& told) { return waits_long(told, snapshot.now); };
  const auto& queues = snapshot.cluster.gpu_queues();
  if (std::ranges::any_of(queues, [](const auto& of) { return !of->status.pending.empty(); }))
    plan.requeue_in(kBetweenEstimates);
  if (std::ranges::none_of(
          queues, [&](const auto& of) { return std::ranges::any_of(of->status.pending, waits); }))
    return plan;

  const auto& facts = snapshot.cluster.view<queue::ClusterIndex>().facts();
  const std::int64_t now = snapshot.now.time_since_epoch().count();
  const queue::StartEstimates estimates(facts, snapshot.cluster.view<queue::RunShares>(), now,
                                        queue::StartEstimates::kFewTries);
  for (const auto& queue : queues) {
    GPUQueueStatus status = queue->status;
    for (PendingWorkload& told : status.pending) {
      const queue::Workload* workload = waits(told) ? find_waiting(told, facts) : nullptr;
      const auto estimate = workload != nullptr ? estimates.find(*workload) : std::nullopt;
      tell_start(estimate ? coarse(*estimate, now) : StartEstimate(), told);
    }
    if (status == queue->status) continue;
    plan.statuses.push_back(
        {.object = ref_of(*queue), .body = encode_status_patch(*queue, status), .differs = true});
  }
  return plan;
}

}  // namespace berth
