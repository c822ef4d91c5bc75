// SPDX-License-Identifier: Apache-2.0
// Rule 11 in a cycle: reserves capacity for heads that have waited long, decides who may use it
// meanwhile, and explains to others why they wait.
#include <algorithm>
#include <limits>

#include "controller/core/seeded_bugs.h"
#include "controller/queue/cycle/cycle.h"

namespace berth::queue {

// Holds room and quota. The quota counts in no queue's share.
void Cycle::hold(const Reservation& reservation, std::int64_t sign) {
  const auto use = [&](QueueQuotas& queue) {
    for (const auto& [place, amount] : reservation.asks) {
      queue.quotas[place].use(sign * amount);
      queue.quotas[place].leaving += sign * amount;
    }
  };
  use(*quotas_.find(reservation.queue));
  room_.hold(reservation.wanted, reservation.stands, sign);
  use(*preemption().outlook().quotas().find(reservation.queue));
  preemption().outlook().room().hold(reservation.wanted, reservation.stands, sign);
}

// Reserves for the queue's head once it has waited `reserveAfter`, in the pool where it can start
// soonest.
void Cycle::reserve(const Offer& offer) {
  const QueueFact& fact = *offer.queue->fact;
  if (!terms_ || !fact.reserve_after || offer.has_failed) return;
  if (seeded(SeededBug::kForgetReservation)) return;
  const std::int64_t due = offer.heads.front().turn.created + *fact.reserve_after;
  if (terms_->now < due) {
    again_ = again_ ? std::min(*again_, due) : due;
    return;
  }
  const std::string cohort = cohort_name(fact.name, fact.cohort);
  const auto is_free = [&](PoolId pool) {
    return std::ranges::none_of(reservations_, [&](const Reservation& of) {
      return of.cohort == cohort && of.wanted.pool == pool;
    });
  };
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  std::optional<Reservation> soonest;
  for (const Route& route : offer.routes.open) {
    if (!is_free(route.pool)) continue;
    auto found = find_reservation(index_, preemption(), preemptor(offer, route), terms_->now);
    if (found && (!soonest || found->from.value_or(kNever) < soonest->from.value_or(kNever)))
      soonest = std::move(found);
  }
  if (!soonest) return;
  soonest->head = offer.heads.front().turn.workload;
  soonest->cohort = cohort;
  hold(*soonest, +1);
  std::vector<std::pair<ShapeId, NodeId>> nodes;
  for (const Stand& stand : soonest->stands) nodes.emplace_back(stand.shape, room_.node(stand));
  reservations_.push_back(*std::move(soonest));
  look_again(offer, nodes);
}

const Reservation* Cycle::reservation_of(const Workload& workload) const {
  const auto found = std::ranges::find(reservations_, &workload, &Reservation::head);
  return found == reservations_.end() ? nullptr : &*found;
}

// A workload that ends before the reservation begins may use the reserved capacity.
bool Cycle::backfill(Offer& offer) {
  const std::int64_t lasts = index_.catalog().class_key(offer.routed).lasts;
  if (reservations_.empty() || lasts == 0) return false;
  std::vector<const Reservation*> lifted;
  for (const Reservation& each : reservations_)
    if (each.from && terms_->now + lasts + terms_->slack <= *each.from) lifted.push_back(&each);
  if (lifted.empty()) return false;
  for (const Reservation* each : lifted) hold(*each, -1);
  const Route* route = first_that_fits(offer);
  if (route != nullptr) admit(offer, *route);
  for (const Reservation* each : lifted) hold(*each, +1);
  if (route == nullptr) return false;
  put_forward(offer);
  look_again(offer, admissions_.back().nodes);
  return true;
}

// Returns nothing if the workload would not fit without the reservations either.
std::optional<Verdict> Cycle::kept_for_another(Offer& offer) {
  std::optional<Verdict> verdict;
  std::size_t lifted = 0;
  while (!verdict && lifted < reservations_.size()) {
    const Reservation& next = reservations_[lifted++];
    hold(next, -1);
    if (const Route* route = first_that_fits(offer))
      verdict = Verdict{.reason = Reason::kReserved,
                        .pool = route->pool,
                        .behind = next.head,
                        .reserved = next.from.value_or(0)};
  }
  while (lifted > 0) hold(reservations_[--lifted], +1);
  return verdict;
}

}  // namespace berth::queue
