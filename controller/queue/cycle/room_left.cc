// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/room_left.h"

#include <algorithm>

#include "controller/core/seeded_bugs.h"

namespace berth::queue {

Wanted wanted_of(ClassId workloads, PoolId pool, const QueueFact& queue, const Catalog& catalog) {
  const WishId own = catalog.class_key(workloads).wish;
  const bool modelled =
      catalog.class_facts(workloads).modelled || seeded(SeededBug::kPinUnmodelled);
  return {.workloads = workloads,
          .pool = pool,
          .topology = own == Catalog::kNoWish ? queue.topology : catalog.wish_facts(own),
          .pinned = queue.pins && modelled};
}

RoomLeft::RoomLeft(const FactsIndex& index, bool outlook)
    : index_(index),
      catalog_(index.catalog()),
      room_(index.room()),
      resources_(catalog_.resources()),
      outlook_(outlook),
      left_(catalog_.pools() * resources_),
      watched_(left_.size()),
      grown_(catalog_.pools()),
      shared_(!room_.claimants(Catalog::kAny).empty()),
      growth_(index),
      space_(index) {
  for (PoolId pool = 0; pool < catalog_.pools(); ++pool) {
    for (ResourceId resource = 0; resource < resources_; ++resource)
      left_[pool * resources_ + resource] = room_.unclaimed(pool, resource);
  }
}

// A workload that was admitted to any pool may run in this one, so both sums must suffice.
std::int64_t RoomLeft::left(PoolId pool, ResourceId resource) const {
  return std::min(left_[resource], left_[pool * resources_ + resource]);
}

bool RoomLeft::has_grown(PoolId pool) const {
  return grown_[pool] || (shared_ && grown_[Catalog::kAny]);
}

std::int64_t RoomLeft::largest(PoolId pool, ResourceId resource) {
  return outlook_ ? space_.largest(pool, resource) : room_.largest(pool, resource);
}

bool RoomLeft::fits_in_pool(const Wanted& wanted) {
  for (const auto& [resource, amount] : catalog_.class_facts(wanted.workloads).total) {
    if (amount > left(wanted.pool, resource)) return false;
  }
  for (const auto& [shape, count] : catalog_.class_key(wanted.workloads).roles) {
    for (const auto& [resource, amount] : catalog_.shape_requests(shape)) {
      if (amount > largest(wanted.pool, resource)) return false;
    }
  }
  return true;
}

// Returns nothing if the workload requires a level that does not exist.
std::optional<Bounds> RoomLeft::bounds_of(const Wanted& wanted) const {
  const TopologyWish& wish = wanted.topology;
  const auto& levels = room_.levels();
  const auto level = std::ranges::find(levels, wish.level);
  if (level == levels.end()) return wish.required ? std::nullopt : std::optional(Bounds());
  const auto place = static_cast<std::size_t>(level - levels.begin());
  return wish.required ? Bounds{.required = place} : Bounds{.preferred = place};
}

bool RoomLeft::is_plain(const Wanted& wanted) const {
  return wanted.pinned && !wanted.topology.required &&
         catalog_.class_key(wanted.workloads).roles.size() == 1;
}

TallyKey RoomLeft::tally_of(const Wanted& wanted) const {
  const ClassKey& key = catalog_.class_key(wanted.workloads);
  const std::int64_t pods = catalog_.class_facts(wanted.workloads).pods;
  return {key.roles.front().first, wanted.pool, key.of_job ? pods : 0};
}

bool RoomLeft::fits(const Wanted& wanted) {
  if (wanted.to_come)
    return !wanted.topology.required && growth_.holds(wanted.workloads, wanted.pool);
  if (!fits_in_pool(wanted)) return false;
  if (!wanted.pinned) return !wanted.topology.required && places_of_any(wanted) == pods_of(wanted);
  const ClassFacts& facts = catalog_.class_facts(wanted.workloads);
  if (!is_plain(wanted)) return place(wanted);
  if (facts.pods == 1) return space_.find(facts.in_order.front().first, wanted.pool).has_value();
  return tallies_.of(tally_of(wanted)).has(facts.pods);
}

bool RoomLeft::place(const Wanted& wanted, bool for_good) {
  stands_.clear();
  narrower_.reset();
  const ClassFacts& facts = catalog_.class_facts(wanted.workloads);
  if (facts.pods == 1 && is_plain(wanted)) {
    const ShapeId shape = facts.in_order.front().first;
    const auto rank = space_.find(shape, wanted.pool);
    if (rank) stands_.push_back({shape, *rank, 1});
    return rank.has_value();
  }
  const std::optional<Bounds> bounds = bounds_of(wanted);
  if (!bounds) return false;
  GangPlaces places(space_, tallies_, index_, wanted.workloads, wanted.pool);
  if (!places.find(*bounds)) return false;
  stands_ = places.stands();
  if (for_good && !wanted.topology.level.empty() && places.too_narrow())
    narrower_ = {*places.too_narrow(), places.most_in(*places.too_narrow())};
  return true;
}

std::int64_t RoomLeft::places_of_any(const Wanted& wanted) {
  std::int64_t pods = 0;
  for (const auto& [shape, count] : catalog_.class_key(wanted.workloads).roles)
    if (space_.find(shape, wanted.pool)) pods += count;
  return pods;
}

// For a workload that is not pinned, kube-scheduler chooses the nodes.
Verdict RoomLeft::explain_unpinned(const Wanted& wanted) {
  const bool allowed = std::ranges::all_of(
      catalog_.class_key(wanted.workloads).roles,
      [&](const auto& role) { return space_.allows_any(role.first, wanted.pool); });
  return {.reason = allowed ? Reason::kUnplaceable : Reason::kNodesNotSelected,
          .pool = wanted.pool,
          .needs = pods_of(wanted),
          .free = places_of_any(wanted)};
}

Verdict RoomLeft::explain_nodes(const Wanted& wanted) {
  if (!wanted.pinned && !wanted.topology.required) return explain_unpinned(wanted);
  Verdict verdict{.reason = Reason::kUnplaceable,
                  .pool = wanted.pool,
                  .needs = catalog_.class_facts(wanted.workloads).pods};
  const std::optional<Bounds> bounds = bounds_of(wanted);
  if (wanted.topology.required) verdict.wish = *catalog_.find_wish(wanted.topology);
  if (!wanted.pinned || !bounds) {
    verdict.reason = bounds ? Reason::kTopologyNeedsNodes : Reason::kUnknownTopologyLevel;
    return verdict;
  }
  GangPlaces places(space_, tallies_, index_, wanted.workloads, wanted.pool);
  verdict.free = places.most(*bounds);
  if (!places.is_allowed())
    verdict.reason = Reason::kNodesNotSelected;
  else if (bounds->required)
    verdict.reason = Reason::kNoTopologyDomain;
  return verdict;
}

Verdict RoomLeft::explain(const Wanted& wanted) {
  Verdict verdict = explain_room(wanted);
  if (!wanted.topology.required) verdict.nodes_to_come = growth_.nodes_left(wanted.pool);
  return verdict;
}

Verdict RoomLeft::explain_room(const Wanted& wanted) {
  const PoolId pool = wanted.pool;
  if (fits_in_pool(wanted)) return explain_nodes(wanted);
  const Vector& total = catalog_.class_facts(wanted.workloads).total;
  for (const auto& [resource, amount] : total) {
    const std::int64_t offered = room_.offered(pool, resource);
    if (amount > offered)
      return {Reason::kResourceNotOffered, resource, pool, amount, 0, offered, nullptr};
  }
  for (const auto& [resource, amount] : total) {
    const std::int64_t free = std::max<std::int64_t>(0, left(pool, resource));
    if (amount > free) {
      return {Reason::kWaitingForRoom,       resource, pool, amount, free,
              room_.offered(pool, resource), nullptr};
    }
  }
  // What remains is a pod that fits on no node. The verdict names the first such resource by name,
  // with the most that one pod needs of it.
  Verdict verdict{.reason = Reason::kFragmented, .pool = pool};
  for (const auto& [resource, amount] : total) {
    std::int64_t most = 0;
    for (const auto& [shape, count] : catalog_.class_key(wanted.workloads).roles) {
      for (const auto& [asked, per_pod] : catalog_.shape_requests(shape)) {
        if (asked == resource) most = std::max(most, per_pod);
      }
    }
    if (most <= room_.largest(pool, resource)) continue;
    verdict.resource = resource;
    verdict.needs = most;
    verdict.free = room_.largest(pool, resource);
    verdict.most = left(pool, resource);
    break;
  }
  return verdict;
}

void RoomLeft::take(const Wanted& wanted) {
  stands_.clear();
  narrower_.reset();
  if (wanted.pinned) place(wanted, true);
  take_at(wanted, stands_);
}

void RoomLeft::take_at(const Wanted& wanted, const std::vector<Stand>& stands) {
  const ClassFacts& facts = catalog_.class_facts(wanted.workloads);
  if (!wanted.pinned) {
    growth_.take(wanted.workloads, wanted.pool);
    return claim(wanted.pool, facts.total, 1);
  }
  const bool anywhere = catalog_.class_key(wanted.workloads).of_job && stands.size() > 1;
  for (Stand stand : stands) {
    if (anywhere) stand.pods = facts.pods;
    on_node(stand, [&] { space_.take(stand); });
  }
}

void RoomLeft::hold(const Wanted& wanted, const std::vector<Stand>& stands, std::int64_t sign) {
  const ClassFacts& facts = catalog_.class_facts(wanted.workloads);
  if (!wanted.pinned) return claim(wanted.pool, facts.total, sign);
  const bool anywhere = catalog_.class_key(wanted.workloads).of_job && stands.size() > 1;
  for (Stand stand : stands) {
    if (anywhere) stand.pods = facts.pods;
    on_node(stand, [&] { space_.think_away(stand, false, -sign); });
    if (sign < 0) grow(space_.node_at(stand.rank).pool);
  }
}

void RoomLeft::bind(const Wanted& wanted, const std::vector<Stand>& stands) {
  hold(wanted, stands, -1);
  for (const Stand& stand : stands) on_node(stand, [&] { space_.think_away(stand, true, -1); });
}

void RoomLeft::unbind(const std::vector<Stand>& stands) {
  for (const Stand& stand : stands) {
    on_node(stand, [&] { space_.think_away(stand, true, +1); });
    grow(space_.node_at(stand.rank).pool);
  }
}

std::int64_t RoomLeft::free_on(NodeId node, ResourceId resource) {
  const auto rank = space_.rank_of(node);
  return rank ? space_.free(*rank, resource) : 0;
}

void RoomLeft::claim(PoolId pool, const Vector& amounts, std::int64_t times) {
  shared_ = shared_ || pool == Catalog::kAny;
  if (times < 0) grow(pool);
  for (const auto& [resource, amount] : amounts) {
    change_left(pool, resource, -times * amount);
  }
}

// The sum of all pools counts a pool with a negative rest as 0.
void RoomLeft::change_left(PoolId pool, ResourceId resource, std::int64_t by) {
  if (pool == Catalog::kAny) {
    left_[resource] += by;
    return;
  }
  std::int64_t& left = left_[pool * resources_ + resource];
  const std::int64_t before = std::max<std::int64_t>(0, left);
  left += by;
  left_[resource] += std::max<std::int64_t>(0, left) - before;
}

// The sums count an overfull node as 0.
template <class Move>
void RoomLeft::on_node(const Stand& stand, Move move) {
  space_.open();
  const PoolId pool = space_.node_at(stand.rank).pool;
  const auto count = [&](std::int64_t sign) {
    for (const auto& [resource, amount] : catalog_.shape_requests(stand.shape)) {
      change_left(pool, resource, sign * space_.free(stand.rank, resource));
    }
  };
  count(-1);
  move();
  count(+1);
}

void RoomLeft::think_away(const Workload& workload, std::int64_t sign) {
  for (const Claim& of : workload.standing.claims) {
    if (!of.node) {
      claim(of.pool, catalog_.shape_requests(of.shape), -sign * of.pods);
    } else if (const auto rank = space_.rank_of(*of.node)) {
      const Stand stand{of.shape, *rank, of.pods};
      on_node(stand, [&] { space_.think_away(stand, false, sign); });
      if (sign > 0) grow(space_.node_at(*rank).pool);
    }
  }
  if (!workload.pods) return;
  for (const Pod* pod : workload.pods->all)
    if (pod->on_node()) think_away(*pod, sign);
}

void RoomLeft::think_away(const Pod& pod, std::int64_t sign) {
  const auto rank = space_.rank_of(pod.node);
  if (!rank) return;
  const Stand stand{pod.shape, *rank, 1};
  on_node(stand, [&] { space_.think_away(stand, true, sign); });
  if (sign > 0) grow(space_.node_at(*rank).pool);
}

void RoomLeft::find_witnesses(const Wanted& wanted, std::vector<NodeId>& nodes) {
  nodes.clear();
  if (!wanted.pinned && !wanted.to_come) {
    for (const auto& [shape, count] : catalog_.class_key(wanted.workloads).roles)
      if (const auto rank = space_.find(shape, wanted.pool)) nodes.push_back(space_.id(*rank));
  }
  if (!wanted.pinned || is_plain(wanted)) return;
  place(wanted);
  for (const Stand& stand : stands_) nodes.push_back(node(stand));
}

void RoomLeft::watch(const Wanted& wanted) {
  if (wanted.to_come) return;  // nodes to add are never taken unnoticed
  const ClassFacts& facts = catalog_.class_facts(wanted.workloads);
  for (const auto& [resource, amount] : facts.total) {
    std::int64_t& most = watched_[wanted.pool * resources_ + resource];
    most = std::max(most, amount);
  }
  if (is_plain(wanted)) tallies_.watch(tally_of(wanted), facts.pods);
}

bool RoomLeft::is_short(PoolId pool) {
  if (growth_.is_less(pool)) return true;
  for (ResourceId resource = 0; resource < resources_; ++resource) {
    const std::int64_t most = watched_[pool * resources_ + resource];
    if (most > 0 && most > left(pool, resource)) return true;
  }
  return tallies_.is_short(pool);
}

void RoomLeft::unwatch(PoolId pool) {
  std::fill_n(watched_.begin() + static_cast<std::ptrdiff_t>(pool * resources_), resources_, 0);
  tallies_.unwatch(pool);
  growth_.look(pool);
}

}  // namespace berth::queue
