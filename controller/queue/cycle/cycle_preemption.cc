// SPDX-License-Identifier: Apache-2.0
// Rule 9 in a cycle: admits workloads that wait for others to leave, and chooses the workloads to
// displace.
#include "controller/queue/cycle/cycle.h"

namespace berth::queue {

Preemption& Cycle::preemption() {
  if (preemption_) return *preemption_;
  preemption_.emplace(index_, *terms_);
  for (std::size_t i = 0; i < taken_.size(); ++i)
    preemption_->take_at(admissions_[i], taken_[i].queue, taken_[i].wanted, taken_[i].stands);
  return *preemption_;
}

Preemptor Cycle::preemptor(const Offer& offer, const Route& route) const {
  return {offer.queue->id, &route, wanted(offer, route), offer.heads.front().turn.priority};
}

// For workloads that fit nowhere. For each pool it first asks whether they fit once leaving
// workloads are gone. Then it looks for idle workloads to take back, and last for others to
// displace.
bool Cycle::preempt(Offer& offer) {
  kept_ = nullptr;
  if (!terms_) return false;
  const PreemptionFact& rules = offer.queue->fact->preemption;
  const bool displaces = rules.own || rules.others != Reclaims::kNever;
  if (!displaces && !terms_->idle) return false;
  if (terms_->yields && terms_->yields(**offer.heads.front().at)) return pass_over(offer);
  for (const Route& route : offer.routes.open) {
    const Preemptor asks = preemptor(offer, route);
    if (!preemption().fits(asks)) continue;
    admit_after(offer, asks, {});
    return true;
  }
  for (const bool idle : {true, false}) {
    if (!idle && !displaces) break;
    for (const Route& route : offer.routes.open) {
      const Preemptor asks = preemptor(offer, route);
      const std::vector<Ahead> displaced =
          idle ? preemption().take_idle(asks) : preemption().displace(asks);
      if (displaced.empty()) {
        if (kept_ == nullptr) kept_ = preemption().kept();
        continue;
      }
      admit_after(offer, asks, displaced);
      return true;
    }
  }
  return false;
}

// A workload that yields displaces none. If the queue is not StrictFIFO, other workloads of its
// class may.
bool Cycle::pass_over(Offer& offer) {
  if (offer.queue->fact->strict_fifo) return false;
  const Workload* yields = *offer.heads.front().at;
  passed_over_[yields] = explain(offer);
  advance(offer);
  put_forward(offer);
  return true;
}

void Cycle::admit_after(Offer& offer, const Preemptor& preemptor,
                        const std::vector<Ahead>& displaced) {
  Admission& admission = begin_admission(offer, *preemptor.route);
  admission.after_others = true;
  admission.ahead = displaced;
  const std::vector<Stand> stands = preemption_->take(preemptor, admission);
  room_.take_at(preemptor.wanted, stands);
  list_nodes(stands, admission);
  for (const Ahead& ahead : displaced)
    for (const Charge& charge : ahead.workload->standing.charges) quotas_.let_go(charge);
  advance(offer);
  look_again(offer, admissions_.back().nodes);
  reopen(offer.queue->fact->name, offer.queue->fact->cohort);
}

// Workloads that failed before may fit now: a displaced workload may have held more than the
// preemptor needs.
void Cycle::reopen(const std::string& queue, const std::string& cohort) {
  for (Offer& offer : offers_) {
    const QueueFact& fact = *offer.queue->fact;
    if (cohort_name(fact.name, fact.cohort) != cohort_name(queue, cohort)) continue;
    for (const auto& [workloads, same] : offer.pending->ready)
      failed_.erase(name_of(offer.queue->id, workloads));
    blocked_.erase(offer.queue->id);
    list_heads(offer);
    put_forward(offer);
  }
}

}  // namespace berth::queue
