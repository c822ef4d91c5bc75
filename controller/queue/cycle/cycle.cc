// SPDX-License-Identifier: Apache-2.0
// Each queue offers its first workload, and the cycle tries the offer with the lowest share. If the
// workload fits somewhere, the cycle admits it. Otherwise its class has failed for this queue.
// Quota and room only shrink in a cycle, so a failed class would fail again.
#include "controller/queue/cycle/cycle.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "controller/core/seeded_bugs.h"
#include "controller/queue/facts/backoff.h"
#include "controller/queue/facts/record_cover.h"

namespace berth::queue {
namespace {

Verdict why_left_out(const Workload& workload) {
  const std::int64_t setbacks = setbacks_of(workload);
  return {.reason = setbacks < kMostSetbacks ? Reason::kBackingOff : Reason::kNotReady,
          .needs = setbacks,
          .most = kMostSetbacks,
          .behind = &workload};
}

Verdict why_unready(const Workload& workload) {
  const Standing& standing = workload.standing;
  switch (standing.unready) {
    case Unready::kGangIncomplete:
      return {
          .reason = Reason::kWaitingForGang, .needs = standing.pods, .free = standing.pods_here};
    case Unready::kSizesDisagree:
      return {.reason = Reason::kGangSizesDisagree};
    case Unready::kPodsOnDeadNode:
      return {.reason = Reason::kPodsOnDeadNode};
    case Unready::kReleaseRefused:
      return {.reason = Reason::kReleaseRefused, .behind = &workload};
    case Unready::kNewerRecord:
      return {.reason = Reason::kRecordNewer,
              .needs = newer_version(workload).value_or(0),
              .most = kRecordVersion};
    default:
      return {.reason = Reason::kTemplateNotReady};
  }
}

}  // namespace

std::uint64_t Cycle::name_of(QueueId queue, ClassId workloads) {
  return static_cast<std::uint64_t>(queue) << 32 | workloads;
}

Cycle::Cycle(const FactsIndex& index, std::optional<PreemptionTerms> terms,
             std::optional<std::int64_t> now)
    : index_(index), quotas_(index), room_(index), terms_(std::move(terms)), now_(now) {
  if (!now_ && terms_) now_ = terms_->now;
}

Cycle::Cycle(const FactsIndex& index, LookingAhead ahead)
    : index_(index), quotas_(index), room_(index, true), tries_left_(ahead.tries) {}

void Cycle::run(std::size_t window) {
  std::size_t classes = 0;
  for (const auto& [id, pending] : index_.pending().by_queue()) classes += pending.ready.size();
  failed_.reserve(classes);
  for (const auto& [id, pending] : index_.pending().by_queue()) {
    QueueQuotas* queue = quotas_.find(id);
    if (queue != nullptr && !queue->fact->held) open_offer(*queue, pending);
  }
  decide(window);
  forget_growth();
}

void Cycle::decide(std::size_t window) {
  while (!entries_.empty() && admissions_.size() < window) {
    std::pop_heap(entries_.begin(), entries_.end());
    const Entry entry = entries_.back();
    entries_.pop_back();
    Offer& offer = *entry.offer;
    if (entry.edition != offer.edition) continue;
    if (tries_left_ && fails_at_a_look(offer)) {
      if (!spend_look()) return;
      note_failed_ahead(offer);
      set_aside(offer);
      continue;
    }
    if (tries_left_ && !spend_try()) return;

    if (const Route* route = first_that_fits(offer)) {
      admit(offer, *route);
      put_forward(offer);
      look_again(offer, admissions_.back().nodes);
      continue;
    }
    if (backfill(offer) || preempt(offer)) continue;
    if (tries_left_)
      note_failed_ahead(offer);
    else
      note_failed(offer);
    set_aside(offer);
  }
}

// Drops the queue's first workload, which fits nowhere.
void Cycle::set_aside(Offer& offer) {
  offer.has_failed = true;
  if (offer.queue->fact->strict_fifo) {
    blocked_[offer.queue->id] = offer.heads.front().turn.workload;
    offer.heading_for = nullptr;
    ++offer.edition;
    return;
  }
  drop_class(offer);
  put_forward(offer);
}

void Cycle::note_failed(Offer& offer) {
  Verdict verdict = explain(offer);
  verdict.kept = kept_;
  if (kept_ != nullptr) all_kept_.push_back(kept_);
  if (const auto kept = kept_for_another(offer))
    verdict = *kept;
  else
    reserve(offer);
  failed_[name_of(offer.queue->id, offer.routed)] = verdict;
}

Cycle::Offer& Cycle::new_offer(QueueQuotas& queue) {
  Offer& offer = offers_.emplace_back();
  offer.queue = &queue;
  if (queue.pools.size() > 1) {
    several_pools_.push_back(&offer);
    if (!queue.fact->cohort.empty()) of_cohort_[queue.fact->cohort].push_back(&offer);
  }
  return offer;
}

void Cycle::open_offer(QueueQuotas& queue, const PendingOfQueue& pending) {
  Offer& offer = new_offer(queue);
  if (queue.fact->strict_fifo) offer.unready_head = unready_head(pending);
  offer.pending = &pending;
  list_heads(offer);
  put_forward(offer);
}

// An incomplete gang blocks its queue for a while after its youngest member was created, and no
// longer.
bool Cycle::is_passed(const Workload& unready) const {
  const std::int64_t until = unready.standing.heads_until;
  if (tries_left_) return true;  // a cycle that looks ahead ignores workloads that are not ready
  return until == 0 || (now_ && *now_ >= until);
}

const Workload* Cycle::unready_head(const PendingOfQueue& pending) {
  const auto head = std::ranges::find_if(
      pending.unready, [&](const Workload* unready) { return !is_passed(*unready); });
  if (head == pending.unready.end()) return nullptr;
  const std::int64_t until = (*head)->standing.heads_until;
  if (until != std::numeric_limits<std::int64_t>::max())
    again_ = again_ ? std::min(*again_, until) : until;
  return *head;
}

// Lists all workloads that are not admitted yet, whether or not they have failed.
void Cycle::list_heads(Offer& offer) {
  offer.has_failed = false;
  offer.heads.clear();
  if (offer.pending != nullptr) list_pending(offer);
  list_arrived(offer);
  std::make_heap(offer.heads.begin(), offer.heads.end());
}

void Cycle::list_pending(Offer& offer) {
  offer.heads.reserve(offer.pending->ready.size());
  for (const auto& [workloads, same] : offer.pending->ready) {
    Head head{same.first, same.in_order.begin(), same.in_order.end(), workloads};
    if (const auto next = next_.find(name_of(offer.queue->id, workloads)); next != next_.end()) {
      head.at = next->second;
      if (head.at == head.end) continue;
      head.turn = Turn(**head.at);
    }
    offer.heads.push_back(head);
  }
}

// Finds the queue's first workload that could ever be admitted, and the route that it would take.
void Cycle::put_forward(Offer& offer) {
  ++offer.edition;
  offer.heading_for = nullptr;
  while (!offer.heads.empty()) {
    const Head& head = offer.heads.front();
    if (offer.unready_head != nullptr && Turn(*offer.unready_head) < head.turn) {
      blocked_[offer.queue->id] = offer.unready_head;
      return;
    }
    if (!offer.is_routed || offer.routed != head.workloads) {
      find_routes(*offer.queue, head.workloads, index_.catalog(), index_.room(), offer.routes);
      offer.routed = head.workloads;
      offer.is_routed = true;
    }
    if (!offer.routes.open.empty()) return enter(offer);
    drop_class(offer);
  }
}

void Cycle::enter(Offer& offer) {
  // With one pool there is no choice, so the cycle checks the fit only when it tries the workload.
  const bool chooses = offer.routes.open.size() > 1 && !still_fails(offer);
  const Route* route = chooses ? first_that_fits(offer) : nullptr;
  offer.fits = route != nullptr;
  offer.heading_for = offer.fits ? route : &offer.routes.open.front();
  if (offer.fits) watch(offer);
  offer.share = share_of(offer, *offer.heading_for);
  entries_.push_back({offer.share, offer.heads.front().turn, &offer, offer.edition});
  std::push_heap(entries_.begin(), entries_.end());
}

void Cycle::drop_class(Offer& offer) {
  std::pop_heap(offer.heads.begin(), offer.heads.end());
  offer.heads.pop_back();
}

Wanted Cycle::wanted(const Offer& offer, const Route& route) const {
  Wanted wanted = wanted_of(offer.routed, route.pool, *offer.queue->fact, index_.catalog());
  wanted.to_come = offer.to_come;
  wanted.pinned = wanted.pinned && !offer.to_come;
  return wanted;
}

void Cycle::watch(Offer& offer) {
  const Wanted wants = wanted(offer, *offer.heading_for);
  room_.watch(wants);
  room_.find_witnesses(wants, witnesses_);
  for (const NodeId node : witnesses_) {
    if (node >= on_node_.size()) on_node_.resize(node + 1);
    on_node_[node].emplace_back(&offer, offer.edition);
  }
}

bool Cycle::has_quota(const Offer& offer, const Route& route) const {
  for (const auto& [place, amount] : route.asks) {
    if (amount > offer.queue->quotas[place].free_for(route.may_borrow)) return false;
  }
  return true;
}

bool Cycle::fits(const Offer& offer, const Route& route) {
  return has_quota(offer, route) && room_.fits(wanted(offer, route));
}

// A workload goes to nodes that the autoscaler may add only if it fits on no existing node of any
// pool.
const Route* Cycle::first_that_fits(Offer& offer) {
  for (const bool to_come : {false, true}) {
    offer.to_come = to_come;
    for (const Route& route : offer.routes.open) {
      if (fits(offer, route)) return &route;
    }
  }
  offer.to_come = false;
  return nullptr;
}

Share Cycle::share_of(const Offer& offer, const Route& route) const {
  Share most;
  for (const auto& [place, amount] : route.asks) {
    const Quota& quota = offer.queue->quotas[place];
    const std::int64_t over = quota.used - quota.leaving + amount - quota.nominal;
    most =
        std::max(most, Share::of(over, quota.cohort->lent, offer.queue->fact->weight_thousandths));
  }
  return most;
}

// Explains what is missing in the first pool that is open to the workload.
Verdict Cycle::explain(const Offer& offer) {
  const Route& route = offer.routes.open.front();
  for (const auto& [place, amount] : route.asks) {
    const Quota& quota = offer.queue->quotas[place];
    if (amount > quota.free()) {
      return {Reason::kWaitingForQuota,
              quota.resource,
              route.pool,
              amount,
              quota.free(),
              quota.nominal,
              nullptr};
    }
    if (amount > quota.free_for(route.may_borrow)) {
      return {Reason::kMayNotBorrow, quota.resource, route.pool, amount, 0, quota.nominal, nullptr};
    }
  }
  return room_.explain(wanted(offer, route));
}

// Takes the quota. The caller takes the room.
Admission& Cycle::begin_admission(Offer& offer, const Route& route) {
  const Head& head = offer.heads.front();
  Admission& admission = admissions_.emplace_back();
  admission.workload = *head.at;
  admission.pool = route.pool;
  admission.pods = index_.catalog().class_facts(head.workloads).pods;
  admission.amounts.reserve(route.asks.size());
  for (const auto& [place, amount] : route.asks) {
    Quota& quota = offer.queue->quotas[place];
    quota.use(amount);
    admission.amounts.emplace_back(quota.key, amount);
  }
  return admission;
}

void Cycle::admit(Offer& offer, const Route& route) {
  Admission& admission = begin_admission(offer, route);
  const Wanted wants = wanted(offer, route);
  admission.to_come = wants.to_come;
  room_.take(wants);
  list_nodes(room_.stands(), admission);
  admission.narrower = room_.narrower();
  if (preemption_)
    preemption_->take_at(admission, offer.queue->id, wants, room_.stands());
  else if (terms_ || tries_left_)
    taken_.push_back({offer.queue->id, wants, room_.stands()});
  advance(offer);
}

void Cycle::list_nodes(const std::vector<Stand>& stands, Admission& admission) const {
  const bool each_pod = admission.workload->job == nullptr;
  for (const Stand& stand : stands)
    admission.nodes.insert(admission.nodes.end(),
                           each_pod ? static_cast<std::size_t>(stand.pods) : 1,
                           {stand.shape, room_.node(stand)});
}

// Moves on to the next workload of the class.
void Cycle::advance(Offer& offer) {
  Head head = offer.heads.front();
  drop_class(offer);
  offer.failed.erase(head.workloads);
  if (head.arrived)
    head.at = offer.arrived.at(head.workloads).erase(head.at);
  else
    ++head.at;
  if (!head.arrived && (terms_ || tries_left_))
    next_.insert_or_assign(name_of(offer.queue->id, head.workloads), head.at);
  if (head.at == head.end) return;
  head.turn = Turn(**head.at);
  offer.heads.push_back(head);
  std::push_heap(offer.heads.begin(), offer.heads.end());
}

std::optional<std::int64_t> Cycle::again() const {
  const auto displaces = preemption_ ? preemption_->again() : std::nullopt;
  return displaces && again_ ? std::min(displaces, again_) : displaces ? displaces : again_;
}

Verdict Cycle::why(const Workload& workload) const {
  const Standing& standing = workload.standing;
  const QueueQuotas* queue = quotas_.find(standing.queue);
  if (standing.unready == Unready::kNeverReady) return why_left_out(workload);
  if (standing.unready != Unready::kNo) {
    Verdict verdict = why_unready(workload);
    verdict.passed = queue != nullptr && queue->fact->strict_fifo &&
                     standing.unready != Unready::kNewerRecord && is_passed(workload);
    return verdict;
  }
  if (queue == nullptr) return {.reason = Reason::kQueueNotFound};
  if (const auto& spent = queue->fact->spent)
    return {.reason = Reason::kBudgetExceeded,
            .free = spent->until / 1'000'000,
            .most = spent->gpu_hours_thousandths};
  if (queue->fact->held)
    return {.reason = queue->fact->in_trouble ? Reason::kQueueInTrouble : Reason::kQueueHeld};
  Routes routes;
  find_routes(*queue, standing.workload_class, index_.catalog(), index_.room(), routes);
  if (routes.open.empty()) return routes.refusal;
  if (const auto passed = passed_over_.find(&workload); passed != passed_over_.end())
    return passed->second;
  const auto failed = failed_.find(name_of(standing.queue, standing.workload_class));
  if (failed != failed_.end()) {
    Verdict verdict = failed->second;
    if (const Reservation* own = reservation_of(workload)) verdict.reserved = own->from.value_or(0);
    return verdict;
  }
  const auto blocked = blocked_.find(standing.queue);
  return {.behind = blocked == blocked_.end() ? nullptr : blocked->second};
}

}  // namespace berth::queue
