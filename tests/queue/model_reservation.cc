// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/model_reservation.h"

#include <algorithm>
#include <limits>

namespace berth::queue::test {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// The first GPU resource of its first role, else another extended resource.
std::string device_of(const Candidate& c) { return ModelPlaces::first_device(c.roles); }

}  // namespace

ModelReservation::ModelReservation(ModelFacts& model, const ModelPreemption& preemption,
                                   std::int64_t now, ModelPreemption::Fits fits, Place place)
    : model_(model),
      preemption_(preemption),
      now_(now),
      fits_(std::move(fits)),
      place_(std::move(place)) {}

void ModelReservation::hold(const Kept& kept, std::int64_t sign) {
  for (const auto& [key, amount] : kept.quota)
    model_.used_by[{kept.cohort, kept.queue}][key] += sign * amount;
  for (const auto& [node, requests, pods, bound] : kept.room.on_nodes)
    model_.places.take(node, requests, sign * pods);
  for (const auto& [pool, role, pods] : kept.room.in_pools)
    for (const auto& [resource, amount] : std::get<Amounts>(role))
      model_.claimed_in[{resource, pool}] += sign * pods * amount;
}

// First the workloads with a known end, by that end; then the others, those on nodes with the most
// free devices first.
std::vector<const Holding*> ModelReservation::endings(const Candidate& c) const {
  const std::string device = device_of(c);
  const ThoughtAway then(model_, now_, preemption_.gone());
  std::vector<std::tuple<bool, std::int64_t, std::int64_t, std::string, const Holding*>> order;
  for (const Holding* holding : preemption_.running()) {
    std::int64_t most = 0;
    for (const auto& [name, requests, pods, bound] : holding->on_nodes)
      for (const NodeFact& node : model_.facts.nodes)
        if (node.name == name && node.in_service)
          most = std::max(most, model_.places.free_on(node, device));
    order.emplace_back(!holding->ends, holding->ends.value_or(0), -most, holding->name, holding);
  }
  std::ranges::sort(order);
  std::vector<const Holding*> out;
  for (const auto& entry : order) out.push_back(std::get<const Holding*>(entry));
  return out;
}

std::optional<Kept> ModelReservation::soonest(const Candidate& c, const Pool& pool) {
  const std::vector<const Holding*> order = endings(c);
  for (std::size_t ended = 0; ended <= order.size(); ++ended) {
    const std::vector<const Holding*> away(order.begin(),
                                           order.begin() + static_cast<std::ptrdiff_t>(ended));
    const ThoughtAway then(model_, now_, preemption_.gone(away));
    if (!fits_(c, pool)) continue;
    Kept kept{.head = c.name, .queue = c.queue, .cohort = model_.cohort_of(c.queue), .pool = &pool};
    kept.from = ended == 0 ? now_ : order[ended - 1]->ends;
    for (const auto& [quota, amount] : pool.asks)
      kept.quota[{quota->resource, quota->pool}] += amount;
    kept.room = place_(c, pool);
    return kept;
  }
  return std::nullopt;
}

const Kept* ModelReservation::reserve(const Candidate& c, bool is_head) {
  const auto& after = model_.queues.at(c.queue)->reserve_after;
  if (!after || !is_head || now_ < c.created + *after) return nullptr;
  std::optional<Kept> best;
  for (const Pool& pool : c.open) {
    const bool taken = std::ranges::any_of(kept_, [&](const Kept& of) {
      return of.cohort == model_.cohort_of(c.queue) && of.pool->name == pool.name;
    });
    if (taken) continue;
    auto found = soonest(c, pool);
    if (found && (!best || found->from.value_or(kNever) < best->from.value_or(kNever)))
      best = std::move(found);
  }
  if (!best) return nullptr;
  hold(*best, +1);
  kept_.push_back(*best);
  return &kept_.back();
}

}  // namespace berth::queue::test
