// SPDX-License-Identifier: Apache-2.0
// Outline: whether a round is due; some more of its plays; once the round is whole, the estimates
// of waiting workloads; written estimates that still hold; the rest of the status unchanged.
#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "controller/queue/index/cluster_index.h"
#include "controller/queue/starts/start_estimates.h"
#include "controller/queue/starts/start_teller.h"

namespace berth::queue {
namespace {

using namespace std::chrono_literals;

// As for reasons: a workload that starts within a minute gets no estimate.
constexpr Duration kEstimatedAfter = 1min;
constexpr Duration kBetweenEstimates = 1min;

// Between turns of a round. The largest round takes half a minute, and other work gets its turn in
// between.
constexpr Duration kBetweenTurns = 1s;
// Plays that are older say nothing about now, for example if this process has not been the leader
// since.
constexpr Duration kForgottenAfter = 5min;

// After a turn with less work than this, the same turn also writes the estimates.
constexpr std::size_t kLittleWork = 5'000;

Time second_of(std::int64_t microseconds) {
  return std::chrono::floor<std::chrono::seconds>(Time(std::chrono::microseconds(microseconds)));
}

bool waits_long(const PendingWorkload& told, Time now) {
  return told.waiting_since && now - *told.waiting_since >= kEstimatedAfter;
}

// Finds a workload by its status entry, such as "team-a/train", that has waited since that time.
// Null: it no longer waits.
const Workload* find_waiting(const PendingWorkload& told, const FactsIndex& facts) {
  for (const char* kind : {"Job/", "PodGroup/", "Pod/"}) {
    const Workload* found = facts.find(kind + told.workload);
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

void tell_starts(const Snapshot& snapshot, const StartEstimates& estimates, const FactsIndex& facts,
                 Time since, Plan& plan) {
  const std::int64_t now = snapshot.now.time_since_epoch().count();
  for (const auto& queue : snapshot.cluster.gpu_queues()) {
    GPUQueueStatus status = queue->status;
    for (PendingWorkload& told : status.pending) {
      const Workload* workload = waits_long(told, since) ? find_waiting(told, facts) : nullptr;
      const auto estimate = workload != nullptr ? estimates.find(*workload) : std::nullopt;
      tell_start(estimate ? coarse(*estimate, now) : StartEstimate(), told);
    }
    if (status == queue->status) continue;
    plan.statuses.push_back(
        {.object = ref_of(*queue), .body = encode_status_patch(*queue, status), .differs = true});
  }
}

bool any_waits(const Snapshot& snapshot, const std::function<bool(const PendingWorkload&)>& as) {
  return std::ranges::any_of(snapshot.cluster.gpu_queues(), [&](const auto& queue) {
    return std::ranges::any_of(queue->status.pending, as);
  });
}

}  // namespace

// In a play as many workloads may arrive as are tried.
PlayLimits StartTeller::limits_of_turn(const FactsIndex& facts) {
  const std::size_t to_begin = StartRound::work_to_begin(facts);
  const std::size_t left = kWorkOfTurn - std::min(to_begin, kWorkOfTurn);
  return {.tries = std::max(left / 2, StartEstimates::kFewTries), .work = kWorkOfTurn};
}

// Whether this time has passed since the last round began. Also true if the clock was set back.
bool StartTeller::has_passed(Duration time, Time now) const {
  return !looked_ || now < *looked_ || now - *looked_ >= time;
}

Duration StartTeller::until_next(Time now) const {
  return std::chrono::ceil<Duration>(*looked_ + kBetweenEstimates - now);
}

Plan StartTeller::reconcile(const Snapshot& snapshot) {
  Plan plan;
  if (snapshot.offline) return plan;

  // 1. Check whether a round is due: changes make this key due far more often than there is news.
  if (has_passed(kForgottenAfter, snapshot.now)) round_.reset();
  if (!round_) {
    if (!has_passed(kBetweenEstimates, snapshot.now)) {
      plan.requeue_in(until_next(snapshot.now));
      return plan;
    }
    looked_ = snapshot.now;
    if (!any_waits(snapshot, [](const auto&) { return true; })) return plan;
    if (!any_waits(snapshot, [&](const auto& told) { return waits_long(told, snapshot.now); })) {
      plan.requeue_in(kBetweenEstimates);
      return plan;
    }
    round_.emplace();
  }

  // 2. Play on.
  const auto& facts = snapshot.cluster.view<ClusterIndex>().facts();
  if (!round_->is_whole()) {
    const std::int64_t now = snapshot.now.time_since_epoch().count();
    const std::size_t work =
        round_->play(facts, Arrivals(facts, now), as_others_did(snapshot.cluster.view<RunShares>()),
                     now, limits_of_turn(facts));
    if (!round_->is_whole() || work > kLittleWork) {
      plan.requeue_in(kBetweenTurns);
      return plan;
    }
  }

  // 3. Write the estimates of workloads that had waited long enough when the round began.
  tell_starts(snapshot, StartEstimates(facts, *std::move(round_)), facts, *looked_, plan);
  round_.reset();
  plan.requeue_in(std::max(until_next(snapshot.now), kBetweenTurns));
  return plan;
}

}  // namespace berth::queue
