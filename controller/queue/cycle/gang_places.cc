// SPDX-License-Identifier: Apache-2.0
// If one node holds the gang, it goes there. Otherwise levels are tried from the narrowest up. In a
// level, the gang goes to the domain with the least room that holds it. In the domain, role by
// role, pods fill the node with the least free of their device, and then the next.
#include "controller/queue/cycle/gang_places.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "controller/core/seeded_bugs.h"

namespace berth::queue {

GangPlaces::GangPlaces(NodeSpace& space, RoomTallies& tallies, const FactsIndex& index,
                       ClassId gang, PoolId pool)
    : space_(space),
      catalog_(index.catalog()),
      pool_(pool),
      pods_(catalog_.class_facts(gang).pods) {
  const bool of_job = catalog_.class_key(gang).of_job;
  for (const auto& [shape, pods] : catalog_.class_facts(gang).in_order)
    roles_.push_back({shape, pods, &tallies.of({shape, pool, of_job ? pods_ : 0})});
  for (const Role& role : roles_) role.room->catch_up();
}

bool GangPlaces::is_allowed() const {
  return std::ranges::all_of(roles_, [](const Role& role) { return role.room->is_allowed(); });
}

bool GangPlaces::is_before(DomainId a, DomainId b) const {
  return a != b && catalog_.domain_path(a) < catalog_.domain_path(b);
}

// Returns the domains of the level that have room for each role alone, the least room first. All
// roles together may still not fit.
GangPlaces::Domains GangPlaces::holding(std::size_t level) const {
  Domains domains;
  for (const LevelDomain& domain : space_.domains(level)) {
    const auto has_room = [&](const Role& role) {
      return role.room->in_domain(level, domain.id) >= role.pods;
    };
    if (domain.id != Catalog::kNoDomain && std::ranges::all_of(roles_, has_room))
      domains.push_back(&domain);
  }
  const RoomTally& room = *roles_.front().room;
  std::ranges::sort(domains, [&](const LevelDomain* a, const LevelDomain* b) {
    const std::int64_t one = room.in_domain(level, a->id), other = room.in_domain(level, b->id);
    return one != other ? one < other : is_before(a->id, b->id);
  });
  return domains;
}

// For a gang that has to spread: the largest domains come first, so that it uses few of them.
GangPlaces::Domains GangPlaces::most_first(std::size_t level) {
  Domains domains;
  for (const LevelDomain& domain : space_.domains(level)) domains.push_back(&domain);
  const RoomTally& room = *roles_.front().room;
  std::ranges::sort(domains, [&](const LevelDomain* a, const LevelDomain* b) {
    const bool none = a->id == Catalog::kNoDomain, other_none = b->id == Catalog::kNoDomain;
    if (none != other_none) return other_none;
    const std::int64_t one = room.in_domain(level, a->id), other = room.in_domain(level, b->id);
    return one != other ? one > other : is_before(a->id, b->id);
  });
  return domains;
}

// Pods on one node are closest to each other. And for a Job on one node, no room has to be kept
// free on other nodes.
bool GangPlaces::find_node(const Bounds& bounds) {
  const Role& first = roles_.front();
  const auto holds = [&](std::uint32_t rank) {
    const std::vector<DomainId>& domains = space_.node_at(rank).domains;
    if (bounds.required &&
        (*bounds.required >= domains.size() || domains[*bounds.required] == Catalog::kNoDomain))
      return false;
    return std::ranges::all_of(roles_, [&](const Role& role) {
      return space_.allows(rank, role.shape) && role.room->fits(rank) >= role.pods;
    });
  };
  std::vector<std::uint32_t> nodes;
  space_.each_with_room(first.shape, pool_, first.pods, [&](std::uint32_t rank) {
    if (holds(rank)) nodes.push_back(rank);
    return nodes.empty() || roles_.size() > 1;
  });
  for (const std::uint32_t rank : nodes) {
    const LevelDomain node{.ranks = {rank}};
    const Domains one = {&node};
    if (fill(&one) == pods_) return true;
  }
  return false;
}

bool GangPlaces::find(const Bounds& bounds) {
  for (const Role& role : roles_) {
    if (role.room->total() < role.pods) return false;
  }
  too_narrow_.reset();
  if (find_node(bounds)) return true;
  for (std::size_t level = space_.levels(); level-- > bounds.required.value_or(0);) {
    if (level + 1 < space_.levels()) too_narrow_ = level + 1;
    for (const LevelDomain* domain : holding(level)) {
      const Domains one = {domain};
      if (fill(&one) == pods_) return true;
    }
  }
  if (bounds.required && !seeded(SeededBug::kIgnoreTopology)) return false;
  if (space_.levels() > 0) too_narrow_ = 0;
  if (!bounds.preferred) return fill(nullptr) == pods_;
  const Domains domains = most_first(*bounds.preferred);
  return fill(&domains) == pods_;
}

std::int64_t GangPlaces::most(const Bounds& bounds) {
  const Role& only = roles_.front();
  if (!bounds.required)
    return roles_.size() == 1 ? std::min(only.pods, only.room->total()) : fill(nullptr);
  return most_in(*bounds.required);
}

std::int64_t GangPlaces::most_in(std::size_t level) {
  const Role& only = roles_.front();
  std::int64_t most = 0;
  for (const LevelDomain& domain : space_.domains(level)) {
    if (domain.id == Catalog::kNoDomain) continue;
    const Domains one = {&domain};
    most = std::max(most, roles_.size() == 1
                              ? std::min(only.pods, only.room->in_domain(level, domain.id))
                              : fill(&one));
  }
  return most;
}

std::int64_t GangPlaces::fill(const Domains* domains) {
  stands_.clear();
  std::int64_t placed = 0;
  for (const Role& role : roles_) {
    std::int64_t here = domains == nullptr ? fill_pool(role) : 0;
    for (std::size_t i = 0; domains != nullptr && i < domains->size() && here < role.pods; ++i)
      here += fill_domain(*(*domains)[i], role, role.pods - here);
    placed += here;
  }
  for (const Stand& stand : stands_) space_.give_back(stand);
  return placed;
}

std::int64_t GangPlaces::put(const Role& role, std::uint32_t rank, std::int64_t pods) {
  stands_.push_back({role.shape, rank, std::min(role.room->fits(rank), pods)});
  return stands_.back().pods;
}

std::int64_t GangPlaces::fill_domain(const LevelDomain& domain, const Role& role,
                                     std::int64_t pods) {
  using Node = std::tuple<std::int64_t, bool, std::uint32_t>;  // free device, may split, rank
  const ResourceId device = catalog_.shape_device(role.shape);
  std::vector<Node> nodes;
  nodes.reserve(domain.ranks.size());
  for (const std::uint32_t rank : domain.ranks) {
    if (space_.is_in(rank, pool_) && space_.allows(rank, role.shape) && role.room->fits(rank) > 0)
      nodes.emplace_back(space_.free(rank, device), space_.may_split(rank, role.shape), rank);
  }
  std::ranges::make_heap(nodes, std::greater());
  std::int64_t placed = 0;
  while (placed < pods && !nodes.empty()) {
    std::ranges::pop_heap(nodes, std::greater());
    placed += put(role, std::get<std::uint32_t>(nodes.back()), pods - placed);
    space_.try_on(stands_.back());
    nodes.pop_back();
  }
  return placed;
}

std::int64_t GangPlaces::fill_pool(const Role& role) {
  const std::size_t first = stands_.size();
  std::int64_t placed = 0;
  space_.each_with_room(role.shape, pool_, 1, [&](std::uint32_t rank) {
    if (role.room->fits(rank) > 0) placed += put(role, rank, role.pods - placed);
    return placed < role.pods;
  });
  for (std::size_t i = first; i < stands_.size(); ++i) space_.try_on(stands_[i]);
  return placed;
}

}  // namespace berth::queue
