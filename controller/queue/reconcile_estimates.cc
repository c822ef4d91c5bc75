// SPDX-License-Identifier: Apache-2.0
// Outline: whether a round is due; some more of its plays; once it is whole, whose start is to be
// told by then; what is told of it already and still holds; the rest of the status as it stands.
#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "controller/queue/cluster_index.h"
#include "controller/queue/reconcile.h"
#include "controller/queue/start_estimates.h"
#include "controller/queue/start_teller.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using queue::StartEstimate;

// As for reasons: what starts within a minute is told nothing.
constexpr Duration kEstimatedAfter = 1min;
constexpr Duration kBetweenEstimates = 1min;

// Of a round that goes on: half a minute for the largest, and everything else has its turn between.
constexpr Duration kBetweenTurns = 1s;
// What was played long ago says nothing of now: as if this process has not led meanwhile.
constexpr Duration kForgottenAfter = 5min;

// Beside so much, to tell what a round has shown is no turn of its own.
constexpr std::size_t kLittleWork = 5'000;

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

void tell_starts(const Snapshot& snapshot, const queue::StartEstimates& estimates,
                 const queue::FactsIndex& facts, Time since, Plan& plan) {
  const std::int64_t now = snapshot.now.time_since_epoch().count();
  for (const auto& queue : snapshot.cluster.gpu_queues()) {
    GPUQueueStatus status = queue->status;
    for (PendingWorkload& told : status.pending) {
      const queue::Workload* workload =
          waits_long(told, since) ? find_waiting(told, facts) : nullptr;
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

// In a play as many may come as are tried.
queue::PlayLimits StartTeller::limits_of_turn(const queue::FactsIndex& facts) {
  const std::size_t to_begin = queue::StartRound::work_to_begin(facts);
  const std::size_t left = kWorkOfTurn - std::min(to_begin, kWorkOfTurn);
  return {.tries = std::max(left / 2, queue::StartEstimates::kFewTries), .work = kWorkOfTurn};
}

// Since it looked; also where the clock was put back.
bool StartTeller::has_passed(Duration time, Time now) const {
  return !looked_ || now < *looked_ || now - *looked_ >= time;
}

Duration StartTeller::until_next(Time now) const {
  return std::chrono::ceil<Duration>(*looked_ + kBetweenEstimates - now);
}

Plan StartTeller::reconcile(const Snapshot& snapshot) {
  Plan plan;
  if (snapshot.offline) return plan;

  // 1. Whether it is time: changes make this due far more often than it has something to tell.
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
  const auto& facts = snapshot.cluster.view<queue::ClusterIndex>().facts();
  if (!round_->is_whole()) {
    const std::int64_t now = snapshot.now.time_since_epoch().count();
    const std::size_t work =
        round_->play(facts, queue::Arrivals(facts, now),
                     queue::as_others_did(snapshot.cluster.view<queue::RunShares>()), now,
                     limits_of_turn(facts));
    if (!round_->is_whole() || work > kLittleWork) {
      plan.requeue_in(kBetweenTurns);
      return plan;
    }
  }

  // 3. Tell it of those that had waited for long enough when the round began.
  tell_starts(snapshot, queue::StartEstimates(facts, *std::move(round_)), facts, *looked_, plan);
  round_.reset();
  plan.requeue_in(std::max(until_next(snapshot.now), kBetweenTurns));
  return plan;
}

}  // namespace berth
