// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/model_preemption.h"

#include <algorithm>

namespace berth::queue::test {
namespace {

__extension__ typedef __int128 Wide;

using Sums = std::map<Key, std::int64_t>;

// Workloads that hold more than their admission come after all others.
auto precedence(const Holding& of) {
  return std::tuple(of.holds_too_much, -std::int64_t{of.priority}, of.since, of.uid, of.name);
}

void add(Sums& sums, const Sums& more) {
  for (const auto& [key, amount] : more) sums[key] += amount;
}

bool contains(const std::vector<const Holding*>& all, const Holding* one) {
  return std::ranges::find(all, one) != all.end();
}

}  // namespace

ThoughtAway::ThoughtAway(ModelFacts& model, std::int64_t now, std::vector<const Holding*> gone)
    : model_(model), now_(now), gone_(std::move(gone)), largest_(model.largest_in) {
  for (const Holding* holding : gone_) move(*holding, -1);
  move_nobodies(-1);
  model_.look_for_the_largest();
}

ThoughtAway::~ThoughtAway() {
  for (const Holding* holding : gone_) move(*holding, +1);
  move_nobodies(+1);
  model_.largest_in = largest_;
}

void ThoughtAway::move(const Holding& holding, std::int64_t sign) {
  for (const auto& [key, amount] : holding.used)
    model_.used_by[{holding.cohort, holding.queue}][key] += sign * amount;
  for (const auto& [node, requests, pods, bound] : holding.on_nodes) {
    model_.places.take(node, requests, sign * pods);
    for (const auto& [resource, amount] : requests)
      if (bound) model_.places.bound[node][resource] += sign * pods * amount;
  }
  for (const auto& [pool, role, pods] : holding.in_pools) model_.take_room(pool, role, sign * pods);
}

void ThoughtAway::move_nobodies(std::int64_t sign) {
  for (const PodFact& pod : model_.facts.pods) {
    if (!pod.workload.empty() || pod.state != PodState::kLeaving) continue;
    if (pod.hangs_from != 0 && pod.hangs_from <= now_) continue;
    model_.places.take(pod.node, pod.requests, sign);
    for (const auto& [resource, amount] : pod.requests)
      model_.places.bound[pod.node][resource] += sign * amount;
  }
}

ModelPreemption::ModelPreemption(ModelFacts& model, std::int64_t now, Fits fits)
    : model_(model), now_(now), fits_(std::move(fits)) {}

std::vector<const Holding*> ModelPreemption::gone(const std::vector<const Holding*>& more) const {
  std::vector<const Holding*> gone = more;
  for (const Holding& holding : model_.holdings)
    if ((holding.leaves && !holding.hangs(now_)) || displaced_.contains(&holding))
      gone.push_back(&holding);
  return gone;
}

std::vector<const Holding*> ModelPreemption::running() const {
  std::vector<const Holding*> out;
  const std::vector<const Holding*> away = gone();
  for (const Holding& holding : model_.holdings)
    if (holding.runs && !contains(away, &holding)) out.push_back(&holding);
  return out;
}

std::int64_t ModelPreemption::nominal(const std::string& queue, const Key& key) const {
  const auto found = model_.queues.find(queue);
  if (found == model_.queues.end()) return 0;
  for (const QuotaFact& quota : found->second->quotas)
    if (Key(quota.resource, quota.pool) == key) return quota.nominal;
  return 0;
}

// The queue's running work that fits into the nominal quota everywhere, by priority, then by
// admission. Pods created without review, hanging work, and work that can't be reclaimed come
// before all other work.
ModelPreemption::Funded ModelPreemption::funding(const std::string& queue) const {
  Funded out;
  Sums sums;
  const std::vector<const Holding*> away = gone();
  for (const Holding& holding : model_.holdings) {
    if (holding.queue != queue || contains(away, &holding)) continue;
    if (holding.runs && !holding.leaves && !holding.stays)
      out.all.push_back(&holding);
    else
      add(sums, holding.used);
  }
  for (const Holding& holding : fresh_) {
    if (holding.queue != queue) continue;
    if (holding.stays)
      add(sums, holding.used);
    else
      out.all.push_back(&holding);
  }
  std::ranges::sort(
      out.all, [](const Holding* a, const Holding* b) { return precedence(*a) < precedence(*b); });
  for (const Holding* holding : out.all) {
    const bool fits = std::ranges::all_of(holding->used, [&](const auto& charge) {
      return sums[charge.first] + charge.second <= nominal(queue, charge.first);
    });
    if (!fits) continue;
    out.funded.insert(holding);
    add(sums, holding->used);
  }
  return out;
}

bool ModelPreemption::would_fund(const Candidate& c, const Pool& pool) const {
  Sums sums;
  const std::vector<const Holding*> away = gone();
  for (const Holding& holding : model_.holdings)
    if (holding.queue == c.queue && (!holding.runs || holding.leaves || holding.stays) &&
        !contains(away, &holding))
      add(sums, holding.used);
  for (const Holding& holding : fresh_)
    if (holding.queue == c.queue && holding.stays) add(sums, holding.used);
  const Funded funded = funding(c.queue);
  for (const Holding* holding : funded.all)
    if (holding->priority >= c.priority && funded.funded.contains(holding) &&
        !holding->holds_too_much)
      add(sums, holding->used);
  return std::ranges::all_of(pool.asks, [&](const auto& ask) {
    return sums[{ask.first->resource, ask.first->pool}] + ask.second <= ask.first->nominal;
  });
}

bool ModelPreemption::is_within_nominal(const Candidate& c, const Pool& pool) const {
  return std::ranges::all_of(pool.asks, [&](const auto& ask) {
    return model_.of(model_.used_by, c.queue, {ask.first->resource, ask.first->pool}) +
               ask.second <=
           ask.first->nominal;
  });
}

bool ModelPreemption::may_go(const Holding& holding, std::int64_t after) const {
  const bool is_fresh =
      std::ranges::any_of(fresh_, [&](const Holding& of) { return &of == &holding; });
  return !is_fresh && !holding.in_flight && holding.since <= now_ - after;
}

std::vector<const Holding*> ModelPreemption::own(const Candidate& c, const Pool& pool) const {
  std::vector<const Holding*> out;
  const PreemptionFact& rules = model_.queues.at(c.queue)->preemption;
  if (!rules.own) return out;
  const Funded funded = funding(c.queue);
  for (const Holding* holding : funded.all) {
    if (holding->priority >= c.priority || is_late(*holding)) continue;
    if (!may_go(*holding, rules.own_after)) continue;
    if (would_fund(c, pool) || !funded.funded.contains(holding)) out.push_back(holding);
  }
  return out;
}

std::vector<const Holding*> ModelPreemption::others(const Candidate& c, bool late) const {
  std::vector<const Holding*> out;
  const PreemptionFact& rules = model_.queues.at(c.queue)->preemption;
  std::set<std::string> names;
  for (const Holding& holding : model_.holdings)
    if (holding.runs && holding.queue != c.queue) names.insert(holding.queue);
  for (const std::string& name : names) {
    const Funded funded = funding(name);
    for (const Holding* holding : funded.all) {
      if (funded.funded.contains(holding) || holding->cohort != model_.cohort_of(c.queue)) continue;
      if (rules.others == Reclaims::kLowerPriority && holding->priority >= c.priority) continue;
      if (is_late(*holding) == late && may_go(*holding, rules.others_after)) out.push_back(holding);
    }
  }
  return out;
}

bool ModelPreemption::suffices(const Candidate& c, const Pool& pool,
                               const std::vector<const Holding*>& victims) {
  const ThoughtAway then(model_, now_, gone(victims));
  const bool reclaims =
      std::ranges::any_of(victims, [&](const Holding* victim) { return victim->queue != c.queue; });
  return (!reclaims || is_within_nominal(c, pool)) && fits_(c, pool);
}

bool ModelPreemption::is_less_loss(const std::string& queue, const Holding& a,
                                   const Holding& b) const {
  const auto gpus = [&](const Holding& of) {
    std::int64_t by_class = 0, by_piece = 0;
    for (const auto& [key, amount] : of.used) {
      if (key.first == "gpu") by_class += amount;
      if (is_gpu_resource(key.first))
        by_piece += model_.charged("gpu", key.second, {{key.first, amount}});
    }
    return std::max(by_class, by_piece);
  };
  const auto key = [&](const Holding& of) {
    const std::int64_t unsaved =
        std::max<std::int64_t>(0, now_ - std::max(of.since, of.checkpoint));
    return std::tuple(of.queue == queue, is_late(of), of.priority, Wide{unsaved} * gpus(of),
                      -of.since, of.uid, of.name);
  };
  return key(a) < key(b);
}

std::vector<const Holding*> ModelPreemption::victims_for(const Candidate& c, const Pool& pool) {
  std::vector<const Holding*> victims = own(c, pool);
  bool reclaims = model_.queues.at(c.queue)->preemption.others != Reclaims::kNever;
  if (reclaims) {
    const ThoughtAway then(model_, now_, gone(victims));
    reclaims = is_within_nominal(c, pool);
  }
  if (reclaims)
    for (const Holding* other : others(c, false)) victims.push_back(other);
  if (reclaims && (victims.empty() || !suffices(c, pool, victims)))
    for (const Holding* other : others(c, true)) victims.push_back(other);
  std::ranges::sort(
      victims, [&](const Holding* a, const Holding* b) { return is_less_loss(c.queue, *a, *b); });
  if (victims.empty() || !suffices(c, pool, victims)) return {};
  const auto reclaims_from = [&] {
    return std::ranges::any_of(victims, [&](const Holding* of) { return of->queue != c.queue; });
  };
  const bool reclaimed = reclaims_from();
  const auto spare = [&] {
    for (std::size_t i = victims.size(); i-- > 0;) {
      std::vector<const Holding*> fewer = victims;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (suffices(c, pool, fewer)) victims = fewer;
    }
  };
  spare();
  if (reclaimed && !reclaims_from()) spare();
  return victims;
}

// Starting with the workload that ends last, it drops each workload without which quota and free
// capacity still suffice.
void ModelPreemption::await(const Candidate& c, Way& way) {
  std::vector<const Holding*> leaving = gone();
  std::erase_if(leaving, [&](const Holding* of) { return of->name == c.name; });
  std::ranges::sort(leaving, {}, [](const Holding* of) {
    return std::tuple(!of->leaves || of->hangs_from == 0, of->leaves ? of->hangs_from : 0,
                      of->name);
  });
  const bool reclaims = std::ranges::any_of(
      way.victims, [&](const Holding* victim) { return victim->queue != c.queue; });
  way.gone = way.victims;
  for (const Holding* of : gone())
    if (of->name == c.name) way.gone.push_back(of);
  way.gone.insert(way.gone.end(), leaving.begin(), leaving.end());
  for (std::size_t i = leaving.size(); i-- > 0;) {
    std::vector<const Holding*> fewer = way.gone;
    std::erase(fewer, leaving[i]);
    const ThoughtAway then(model_, now_, fewer);
    if ((reclaims && !is_within_nominal(c, *way.pool)) || !fits_(c, *way.pool)) continue;
    way.gone = fewer;
    leaving.erase(leaving.begin() + static_cast<std::ptrdiff_t>(i));
  }
  way.awaited = leaving;
}

std::optional<ModelPreemption::Way> ModelPreemption::find(const Candidate& c) {
  const PreemptionFact& rules = model_.queues.at(c.queue)->preemption;
  if (!rules.own && rules.others == Reclaims::kNever) return std::nullopt;
  for (const Pool& pool : c.open)
    if (suffices(c, pool, {})) return waiting(c, {&pool, {}, {}, {}});
  for (const Pool& pool : c.open) {
    const std::vector<const Holding*> victims = victims_for(c, pool);
    if (!victims.empty()) return waiting(c, {&pool, victims, {}, {}});
  }
  return std::nullopt;
}

void ModelPreemption::admitted(const Candidate& c, const Pool& pool) {
  Holding holding{.name = c.name,
                  .uid = c.uid,
                  .queue = c.queue,
                  .cohort = model_.cohort_of(c.queue),
                  .priority = c.priority,
                  .since = now_,
                  .runs = true,
                  .stays = c.stays};
  for (const auto& [quota, amount] : pool.asks)
    holding.used[{quota->resource, quota->pool}] += amount;
  fresh_.push_back(holding);
}

void ModelPreemption::displaced(const std::vector<const Holding*>& victims) {
  for (const Holding* victim : victims) {
    displaced_.insert(victim);
    for (const auto& [key, amount] : victim->staying)
      model_.staying_by[{victim->cohort, victim->queue}][key] -= amount;
  }
}

}  // namespace berth::queue::test
