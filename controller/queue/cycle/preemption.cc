// SPDX-License-Identifier: Apache-2.0
// First it frees all workloads that may be taken back. Then, from the most valuable on, it puts
// each one back that is not needed.
#include "controller/queue/cycle/preemption.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "controller/core/seeded_bugs.h"
#include "controller/queue/cycle/lightest.h"
#include "controller/queue/facts/capped.h"
#include "controller/queue/facts/leaving.h"

namespace berth::queue {
namespace {

Charges charges_of(const Preemptor& preemptor, const QueueQuotas& queue) {
  Charges charges;
  for (const auto& [place, amount] : preemptor.route->asks)
    charges.emplace_back(queue.quotas[place].key, amount);
  return charges;
}

// Returns what the workload holds, in millionths of a GPU. If the class and a resource are both
// charged, both charges are for the same GPUs.
std::int64_t gpus_of(const Workload& workload, const FactsIndex& index) {
  const Catalog& catalog = index.catalog();
  std::int64_t of_class = 0, of_resources = 0;
  for (const Charge& charge : workload.standing.charges) {
    const auto& [resource, pool] = catalog.key_parts(charge.key);
    if (resource == Catalog::kClass)
      of_class += charge.total;
    else if (catalog.counts_as_gpu(resource))
      of_resources += capped_product(charge.total, index.room().weight(pool, resource));
  }
  return std::max(of_class, of_resources);
}

// Does the same for a workload that may be in no queue: what its pods hold on their nodes.
std::int64_t gpus_on_nodes(const Workload& workload, const FactsIndex& index) {
  const Catalog& catalog = index.catalog();
  std::int64_t gpus = 0;
  for (const Pod* pod : workload.pods->all) {
    if (!pod->on_node()) continue;
    const PoolId pool = index.room().pool_of(pod->node);
    for (const auto& [resource, amount] : catalog.shape_requests(pod->shape))
      if (catalog.counts_as_gpu(resource))
        gpus = capped_sum(gpus, capped_product(amount, index.room().weight(pool, resource)));
  }
  return gpus;
}

// A ledger entry has to stay small. If it names only some leaving workloads, the admission may be
// released before the others are gone, which does no harm.
constexpr std::size_t kMostAwaited = 100;

// Up to so many idle workloads, every choice is tried. Beyond that, they are spared one after the
// other.
constexpr std::size_t kMostWeighed = 10;

__extension__ typedef __int128 LostWork;

const Workload* workload_of(const Workload* workload) { return workload; }
const Workload* workload_of(const auto& victim) { return victim.workload; }

std::int64_t gpu_seconds(LostWork lost) {
  return static_cast<std::int64_t>(
      std::min<LostWork>(lost / kWholeGpu / 1'000'000, kMostOfAnything));
}

}  // namespace

bool Preemption::Victim::operator<(const Victim& of) const {
  const auto key = [](const Victim& v) {
    return std::tuple(!v.other, v.late, v.priority, v.lost, -v.since,
                      std::string_view(v.workload->standing.admission->uid),
                      std::string_view(*v.workload->name));
  };
  return key(*this) < key(of);
}

Preemption::Preemption(const FactsIndex& index, const PreemptionTerms& terms)
    : index_(index),
      terms_(terms),
      outlook_(index, terms.now),
      funding_(index, outlook_.quotas(), terms.now, terms.stays) {
  // Once a leaving workload hangs, other workloads may be displaced instead.
  for (const Workload* workload : index.leaving()) {
    const std::int64_t hangs_from = workload->standing.hangs_from;
    if (hangs_from > terms.now) again_ = again_ ? std::min(*again_, hangs_from) : hangs_from;
  }
}

QueueQuotas& Preemption::quotas_of(const Preemptor& preemptor) {
  return *outlook_.quotas().find(preemptor.queue);
}

bool Preemption::is_within_nominal(const Preemptor& preemptor) {
  const QueueQuotas& queue = quotas_of(preemptor);
  return std::ranges::all_of(preemptor.route->asks, [&](const auto& ask) {
    const Quota& quota = queue.quotas[ask.first];
    return quota.used + ask.second <= quota.nominal;
  });
}

bool Preemption::suffices(const Preemptor& preemptor, bool reclaims) {
  const bool within = reclaims || !preemptor.route->may_borrow;
  if (within && !is_within_nominal(preemptor)) return false;
  const QueueQuotas& queue = quotas_of(preemptor);
  for (const auto& [place, amount] : preemptor.route->asks)
    if (amount > queue.quotas[place].free()) return false;
  return outlook_.room().fits(preemptor.wanted);
}

bool Preemption::fits(const Preemptor& preemptor) { return suffices(preemptor, false); }

Preemption::Victim Preemption::victim(const Runner& runner, bool other, bool late) const {
  const std::int64_t from = std::max(runner.since, checkpoint_of(*runner.workload));
  const std::int64_t unsaved = std::max<std::int64_t>(0, terms_.now - from);
  return {runner.workload,
          other,
          late,
          runner.priority,
          static_cast<Victim::Wide>(unsaved) * gpus_of(*runner.workload, index_),
          runner.since};
}

bool Preemption::may_go(const Workload& workload) {
  if (!terms_.may_go || terms_.may_go(workload)) return true;
  note_kept(workload);
  return false;
}

// The first by name counts, because queue numbers depend on the order of events.
void Preemption::note_kept(const Workload& workload) {
  if (kept_ == nullptr || *workload.name < *kept_->name) kept_ = &workload;
}

// An admission in flight may or may not be released yet. A restarting gang holds no node that an
// eviction would free.
void Preemption::consider(const Runner& runner, bool other, std::int64_t after, Victims& victims) {
  const Workload& workload = *runner.workload;
  const bool shown = workload.job || workload.pods;
  if (runner.fresh || !shown || open_entry(workload) != nullptr || is_restarting(workload)) return;
  if (runner.since > terms_.now - after) {
    const std::int64_t then = runner.since + after;
    again_ = again_ ? std::min(*again_, then) : then;
    return;
  }
  if (may_go(workload))
    victims.push_back(victim(runner, other, false));
  else if (other && terms_.goes_late && terms_.goes_late(workload))
    late_.push_back(victim(runner, other, true));
}

void Preemption::add_own(const Preemptor& preemptor, Victims& victims) {
  const QueueQuotas& queue = quotas_of(preemptor);
  const PreemptionFact& rules = queue.fact->preemption;
  if (!rules.own) return;
  for (const Workload* staying : funding_.staying(preemptor.queue))
    if (staying->standing.priority < preemptor.priority) note_kept(*staying);
  const std::vector<Runner>& runners = funding_.of(preemptor.queue);
  const auto is_below = [&](const Runner& of) { return of.priority < preemptor.priority; };
  if (std::ranges::none_of(runners, is_below)) return;
  const bool funded =
      funding_.would_fund(preemptor.queue, preemptor.priority, charges_of(preemptor, queue));
  for (const Runner& runner : runners) {
    if (runner.priority < preemptor.priority && (funded || !runner.funded))
      consider(runner, false, rules.own_after, victims);
  }
}

void Preemption::add_others(const Preemptor& preemptor, Victims& victims) {
  const QueueFact& fact = *quotas_of(preemptor).fact;
  const PreemptionFact& rules = fact.preemption;
  const std::string cohort = cohort_name(fact.name, fact.cohort);
  const auto is_in = [&](const Workload& workload) {
    return outlook_.quotas().cohort_of(workload.standing.charges.front().holder) == cohort;
  };
  for (const QueueId id : funding_.queues_of(cohort)) {
    if (id == preemptor.queue) continue;
    for (const Workload* staying : funding_.staying(id))
      if (is_in(*staying) && funding_.is_beyond_nominal(*staying)) note_kept(*staying);
    for (const Runner& runner : funding_.of(id)) {
      if (runner.funded || runner.fresh || !is_in(*runner.workload)) continue;
      if (rules.others == Reclaims::kAny || runner.priority < preemptor.priority)
        consider(runner, true, rules.others_after, victims);
    }
  }
}

// Whether more room never hurts: the workload has one shape or is not pinned.
bool Preemption::grows_with_room(const Preemptor& preemptor) const {
  const ClassKey& key = index_.catalog().class_key(preemptor.wanted.workloads);
  return !preemptor.wanted.pinned || key.roles.size() == 1;
}

// From the last on, puts back each workload that is not needed. It puts back several at once while
// that succeeds: where more room never hurts, the result is the same.
template <class Item>
void Preemption::spare(std::vector<Item>& among, bool several, const Suffices& suffices) {
  std::vector<Item> kept;
  std::size_t block = 1;
  for (std::size_t end = among.size(); end > 0;) {
    block = several ? std::min(block, end) : 1;
    const std::size_t begin = end - block;
    for (std::size_t i = begin; i < end; ++i) outlook_.put_back(*workload_of(among[i]));
    if (suffices(begin + kept.size())) {
      end = begin;
      block *= 2;
      continue;
    }
    for (std::size_t i = begin; i < end; ++i) outlook_.think_away(*workload_of(among[i]));
    if (block == 1) kept.push_back(among[--end]);
    block = std::max<std::size_t>(1, block / 2);
  }
  std::ranges::reverse(kept);
  among = std::move(kept);
}

// `beside`: workloads of other queues are displaced too.
void Preemption::spare(const Preemptor& preemptor, bool beside, Victims& among) {
  const bool others = !among.empty() && among.front().other;
  spare(among, grows_with_room(preemptor), [&](std::size_t away) {
    return this->suffices(preemptor, beside || (others && away > 0));
  });
}

// The queue's own workloads come last. If no other queue's workload has to go, the preemptor need
// not stay within its nominal quota.
void Preemption::spare(const Preemptor& preemptor, Victims& victims) {
  const auto first_own = std::ranges::find(victims, false, &Victim::other);
  Victims own(first_own, victims.end());
  Victims others(victims.begin(), first_own);
  const bool reclaimed = !others.empty();
  spare(preemptor, reclaimed, own);
  spare(preemptor, false, others);
  if (reclaimed && others.empty()) spare(preemptor, false, own);
  victims = std::move(others);
  victims.insert(victims.end(), own.begin(), own.end());
}

void Preemption::think_away(const Victims& victims) {
  for (const Victim& of : victims) outlook_.think_away(*of.workload);
}

void Preemption::put_back(const Victims& victims) {
  for (const Victim& of : victims) outlook_.put_back(*of.workload);
}

// Uses workloads that go late only if the others do not suffice. On success all victims are freed.
// If they do not suffice, all are put back.
bool Preemption::add_those_that_suffice(const Preemptor& preemptor, Victims& victims) {
  late_.clear();
  add_own(preemptor, victims);
  think_away(victims);
  const Reclaims others = quotas_of(preemptor).fact->preemption.others;
  if (others != Reclaims::kNever && is_within_nominal(preemptor)) {
    Victims of_others;
    add_others(preemptor, of_others);
    think_away(of_others);
    victims.insert(victims.end(), of_others.begin(), of_others.end());
  }
  if (!victims.empty() && suffices(preemptor, false)) return true;
  think_away(late_);
  victims.insert(victims.end(), late_.begin(), late_.end());
  if (!late_.empty() && suffices(preemptor, false)) return true;
  put_back(victims);
  return false;
}

std::vector<Ahead> Preemption::displace(const Preemptor& preemptor) {
  Victims victims;
  kept_ = nullptr;
  if (!add_those_that_suffice(preemptor, victims)) return {};
  std::sort(victims.begin(), victims.end());
  spare(preemptor, victims);
  std::vector<Ahead> displaced;
  for (const Victim& of : victims) {
    funding_.taken_back(*of.workload);
    displaced.push_back({of.workload, true, gpu_seconds(of.lost)});
  }
  return displaced;
}

// The heaviest come last, because sparing begins there. Among equal ones, the workload that has
// been idle longest is taken.
void Preemption::consider_idle(const Preemptor& preemptor, const IdleWork& idle, Victims& victims) {
  const Workload& workload = *idle.workload;
  if (is_gone(workload) || !workload.taken_back.empty() || open_entry(workload) != nullptr) return;
  const AdmissionFact* admission = workload.standing.admission;
  const PreemptionFact& rules = quotas_of(preemptor).fact->preemption;
  const bool own = admission != nullptr && queue_of(workload, index_.catalog()) == preemptor.queue;
  const std::int64_t since = admission == nullptr ? 0 : admission->since;
  const std::int64_t due = std::max(idle.due, since + (own ? rules.own_after : rules.others_after));
  if (due > terms_.now) {
    again_ = again_ ? std::min(*again_, due) : due;
    return;
  }
  if (!may_go(workload)) return;
  victims.push_back(
      {.workload = &workload, .lost = gpus_on_nodes(workload, index_), .since = idle.since});
}

void Preemption::keep_lightest(const Preemptor& preemptor, Victims& victims) {
  if (victims.size() > kMostWeighed) return spare(preemptor, false, victims);
  std::ranges::reverse(victims);
  Takeable things;
  for (const Victim& of : victims) things.weights.push_back(static_cast<std::int64_t>(of.lost));
  things.move = [&](std::size_t i, bool taken) {
    taken ? outlook_.think_away(*victims[i].workload) : outlook_.put_back(*victims[i].workload);
  };
  things.suffices = [&] { return suffices(preemptor, false); };
  const std::vector<bool> taken = take_lightest(things);
  Victims kept;
  for (std::size_t i = victims.size(); i-- > 0;)
    if (taken[i]) kept.push_back(victims[i]);
  victims = std::move(kept);
}

std::vector<Ahead> Preemption::take_idle(const Preemptor& preemptor) {
  kept_ = nullptr;
  if (!terms_.idle) return {};
  if (!idle_) idle_ = terms_.idle();
  Victims victims;
  for (const IdleWork& idle : *idle_) consider_idle(preemptor, idle, victims);
  std::ranges::sort(victims, {}, [](const Victim& of) {
    return std::tuple(of.lost, of.since, std::string_view(*of.workload->name));
  });
  think_away(victims);
  if (victims.empty() || !suffices(preemptor, false)) {
    put_back(victims);
    return {};
  }
  if (!seeded(SeededBug::kTakeAllIdle)) keep_lightest(preemptor, victims);
  std::vector<Ahead> taken;
  for (const Victim& of : victims) {
    funding_.taken_back(*of.workload);
    taken.push_back({.workload = of.workload, .evicted = true, .idle = true});
  }
  return taken;
}

void Preemption::use(const Admission& admission, QueueId queue) {
  QueueQuotas& quotas = *outlook_.quotas().find(queue);
  for (const auto& [key, amount] : admission.amounts)
    for (Quota& quota : quotas.quotas)
      if (quota.key == key) quota.use(amount);
  funding_.admitted(admission);
}

// Returns the workloads that leave without being displaced for this admission, the earliest
// expected end first.
std::vector<const Workload*> Preemption::leaving_beside(const Admission& admission) const {
  std::vector<const Workload*> leaving;
  const auto add = [&](const Workload* workload) {
    const bool own =
        std::ranges::find(admission.ahead, workload, &Ahead::workload) != admission.ahead.end();
    if (!own && workload != admission.workload) leaving.push_back(workload);
  };
  for (const Workload* workload : index_.leaving())
    if (!hangs(*workload, terms_.now)) add(workload);
  for (const Workload* workload : funding_.displaced())
    if (!workload->standing.leaves) add(workload);
  sort_by_end(leaving);
  return leaving;
}

std::vector<Stand> Preemption::take(const Preemptor& preemptor, Admission& admission) {
  const bool reclaims = std::ranges::any_of(admission.ahead, [&](const Ahead& ahead) {
    return !ahead.idle && queue_of(*ahead.workload, index_.catalog()) != preemptor.queue;
  });
  const std::vector<const Workload*> leaving = leaving_beside(admission);
  std::vector<const Workload*> awaited = leaving;
  if (!seeded(SeededBug::kAwaitAllLeaving))
    spare(awaited, grows_with_room(preemptor),
          [&](std::size_t) { return suffices(preemptor, reclaims); });
  use(admission, preemptor.queue);
  outlook_.room().take(preemptor.wanted);
  std::vector<Stand> stands = outlook_.room().stands();
  for (const Workload* workload : leaving)
    if (std::ranges::find(awaited, workload) == awaited.end()) outlook_.think_away(*workload);
  if (awaited.size() > kMostAwaited) awaited.resize(kMostAwaited);
  for (const Workload* workload : awaited) admission.ahead.push_back({.workload = workload});
  return stands;
}

std::vector<Stand> Preemption::places(const Preemptor& preemptor) {
  if (!preemptor.wanted.pinned) return {};
  RoomLeft& room = outlook_.room();
  room.take(preemptor.wanted);
  std::vector<Stand> stands = room.stands();
  room.hold(preemptor.wanted, stands, -1);
  return stands;
}

void Preemption::take_at(const Admission& admission, QueueId queue, const Wanted& wanted,
                         const std::vector<Stand>& stands) {
  use(admission, queue);
  outlook_.room().take_at(wanted, stands);
}

}  // namespace berth::queue
