// SPDX-License-Identifier: Apache-2.0
// A cycle that looks ahead: ended workloads give back what they held, new workloads arrive, and the
// cycle offers all waiting workloads again.
#include <algorithm>
#include <limits>

#include "controller/queue/cycle/cycle.h"

namespace berth::queue {
namespace {

// The cycle can look at this many classes and set them aside in the time of one try. A try searches
// for room or admits.
constexpr std::size_t kLooksOfTry = 8;

}  // namespace

void Cycle::end(const Workload& running) {
  for (const Charge& charge : running.standing.charges) quotas_.use(charge, -1);
  room_.think_away(running, +1);
}

void Cycle::end(std::size_t admitted) {
  const Taken& taken = taken_[admitted];
  QueueQuotas& queue = *quotas_.find(taken.queue);
  for (const auto& [key, amount] : admissions_[admitted].amounts)
    std::ranges::find(queue.quotas, key, &Quota::key)->use(-amount);
  if (taken.wanted.pinned)
    room_.unbind(taken.stands);
  else
    room_.hold(taken.wanted, taken.stands, -1);
}

// Until bind(), all of a Job's pods count on each of its nodes.
void Cycle::bind(std::size_t admitted) {
  const Taken& taken = taken_[admitted];
  if (taken.wanted.pinned) room_.bind(taken.wanted, taken.stands);
}

void Cycle::run_again() {
  entries_.clear();
  for (Offer& offer : offers_) {
    if (!may_begin(offer)) continue;
    if (!spend_try()) break;
    offer.has_come = false;
    list_heads(offer);
    put_forward(offer);
  }
  decide(std::numeric_limits<std::size_t>::max());  // the number of tries bounds it
  forget_growth();
}

bool Cycle::spend_try() { return *tries_left_ > 0 && --*tries_left_ > 0; }

void Cycle::note_failed_ahead(Offer& offer) {
  offer.failed.try_emplace(offer.routed, offer.routes.open);
  offer.for_room = offer.for_room || has_quota_somewhere(offer, offer.routes.open);
}

bool Cycle::has_quota_somewhere(const Offer& offer, const std::vector<Route>& routes) const {
  return std::ranges::any_of(routes, [&](const Route& route) { return has_quota(offer, route); });
}

// If no workload of the queue can start, offering one changes nothing for other queues. That is so
// for most queues after most ends. It is known without a look at their classes.
bool Cycle::may_begin(Offer& offer) const {
  if (offer.has_come) return true;
  const bool more_quota = std::ranges::any_of(
      offer.queue->quotas, [](const Quota& quota) { return quota.cohort->grown; });
  if (!more_quota && !offer.for_room) return false;
  offer.for_room = false;
  bool may = false;
  for (const auto& [workloads, routes] : offer.failed) {
    offer.for_room = offer.for_room || has_quota_somewhere(offer, routes);
    may = may || may_fit(offer, routes);
  }
  return may;
}

// For a class that fitted nowhere: whether it now has quota that it lacked, or room has grown in
// its pool.
bool Cycle::may_fit(const Offer& offer, const std::vector<Route>& routes) const {
  return std::ranges::any_of(routes, [&](const Route& route) {
    if (!has_quota(offer, route)) return false;
    return room_.has_grown(route.pool) || std::ranges::any_of(route.asks, [&](const auto& asked) {
             return offer.queue->quotas[asked.first].cohort->grown;
           });
  });
}

// Whether the queue's first workload failed before and would fail again. It keeps its turn:
// workloads behind it in its queue are not offered earlier.
bool Cycle::still_fails(const Offer& offer) const {
  return offer.failed.contains(offer.routed) && !may_fit(offer, offer.routes.open);
}

// Decides without a search for room.
bool Cycle::fails_at_a_look(const Offer& offer) const {
  return still_fails(offer) || !has_quota_somewhere(offer, offer.routes.open);
}

// Returns false if that was the last try.
bool Cycle::spend_look() { return ++looks_ % kLooksOfTry != 0 || spend_try(); }

void Cycle::forget_growth() {
  quotas_.forget_growth();
  room_.forget_growth();
}

void Cycle::arrive(const Workload& workload) {
  QueueQuotas* queue = quotas_.find(workload.standing.queue);
  if (queue == nullptr || queue->fact->held) return;
  const auto found = std::ranges::find(offers_, queue, &Offer::queue);
  Offer& offer = found != offers_.end() ? *found : new_offer(*queue);
  const ClassId workloads = workload.standing.workload_class;
  offer.arrived[workloads].insert(&workload);
  const bool behind = queue->fact->strict_fifo
                          ? !offer.heads.empty() && offer.heads.front().turn < Turn(workload)
                          : offer.failed.contains(workloads);
  offer.has_come = offer.has_come || !behind;
}

void Cycle::list_arrived(Offer& offer) {
  for (const auto& [workloads, same] : offer.arrived)
    if (!same.empty())
      offer.heads.push_back({Turn(**same.begin()), same.begin(), same.end(), workloads, true});
}

bool Cycle::has_more() const {
  return may_try() && std::ranges::any_of(offers_, [](const Offer& offer) {
           return !offer.heads.empty() || offer.has_failed;
         });
}

}  // namespace berth::queue
