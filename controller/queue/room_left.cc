// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/room_left.h"

#include <algorithm>

namespace berth::queue {

RoomLeft::RoomLeft(const FactsIndex& index)
    : index_(index),
      catalog_(index.catalog()),
      room_(index.room()),
      resources_(catalog_.resources()),
      left_(catalog_.pools() * resources_),
      watched_(left_.size()),
      space_(index) {
  for (PoolId pool = 0; pool < catalog_.pools(); ++pool) {
    for (ResourceId resource = 0; resource < resources_; ++resource)
      left_[pool * resources_ + resource] = room_.unclaimed(pool, resource);
  }
}

// What is admitted to any pool may come to stand in this one, so both must have it.
std::int64_t RoomLeft::left(PoolId pool, ResourceId resource) const {
  return std::min(left_[resource], left_[pool * resources_ + resource]);
}

bool RoomLeft::fits_in_pool(const Wanted& wanted) const {
  for (const auto& [resource, amount] : catalog_.class_facts(wanted.workloads).total) {
    if (amount > left(wanted.pool, resource)) return false;
  }
  for (const auto& [shape, count] : catalog_.class_key(wanted.workloads).roles) {
    for (const auto& [resource, amount] : catalog_.shape_requests(shape)) {
      if (amount > room_.largest(wanted.pool, resource)) return false;
    }
  }
  return true;
}

// Nothing if it requires a level that is none.
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
  if (!fits_in_pool(wanted)) return false;
  if (!wanted.pinned) return !wanted.topology.required;
  const ClassFacts& facts = catalog_.class_facts(wanted.workloads);
  if (!is_plain(wanted)) return place(wanted);
  if (facts.pods == 1) return space_.find(facts.in_order.front().first, wanted.pool).has_value();
  return tallies_.of(tally_of(wanted)).has(facts.pods);
}

bool RoomLeft::place(const Wanted& wanted) {
  stands_.clear();
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
  return true;
}

Verdict RoomLeft::explain_nodes(const Wanted& wanted) {
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
  // What is left is a pod for which no node has enough: of these the resource whose name is first,
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
  if (wanted.pinned) {
    place(wanted);
    const bool anywhere = catalog_.class_key(wanted.workloads).of_job && stands_.size() > 1;
    const std::int64_t all = catalog_.class_facts(wanted.workloads).pods;
    for (const Stand& stand : stands_) take_on_node(stand, anywhere ? all : stand.pods);
    return;
  }
  for (const auto& [resource, amount] : catalog_.class_facts(wanted.workloads).total) {
    left_[resource] -= amount;
    if (wanted.pool != Catalog::kAny) left_[wanted.pool * resources_ + resource] -= amount;
  }
}

// A pool has what its nodes have, and of an overfull one nothing.
void RoomLeft::take_on_node(const Stand& stand, std::int64_t pods) {
  const PoolId pool = space_.node_at(stand.rank).pool;
  const auto count = [&](std::int64_t sign) {
    for (const auto& [resource, amount] : catalog_.shape_requests(stand.shape)) {
      const std::int64_t free = sign * space_.free(stand.rank, resource);
      left_[resource] += free;
      if (pool != Catalog::kAny) left_[pool * resources_ + resource] += free;
    }
  };
  count(-1);
  space_.take({stand.shape, stand.rank, pods});
  count(+1);
}

void RoomLeft::find_witnesses(const Wanted& wanted, std::vector<NodeId>& nodes) {
  nodes.clear();
  if (!wanted.pinned || is_plain(wanted)) return;
  place(wanted);
  for (const Stand& stand : stands_) nodes.push_back(node(stand));
}

void RoomLeft::watch(const Wanted& wanted) {
  const ClassFacts& facts = catalog_.class_facts(wanted.workloads);
  for (const auto& [resource, amount] : facts.total) {
    std::int64_t& most = watched_[wanted.pool * resources_ + resource];
    most = std::max(most, amount);
  }
  if (is_plain(wanted)) tallies_.watch(tally_of(wanted), facts.pods);
}

bool RoomLeft::is_short(PoolId pool) {
  for (ResourceId resource = 0; resource < resources_; ++resource) {
    const std::int64_t most = watched_[pool * resources_ + resource];
    if (most > 0 && most > left(pool, resource)) return true;
  }
  return tallies_.is_short(pool);
}

void RoomLeft::unwatch(PoolId pool) {
  std::fill_n(watched_.begin() + static_cast<std::ptrdiff_t>(pool * resources_), resources_, 0);
  tallies_.unwatch(pool);
}

}  // namespace berth::queue
