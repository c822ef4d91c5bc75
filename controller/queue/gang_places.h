// SPDX-License-Identifier: Apache-2.0
// GangPlaces: nodes for all the pods of a workload at once, one or in the narrowest domain that
// holds them (rule 8).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/queue/node_space.h"
#include "controller/queue/room_tally.h"

namespace berth::queue {

struct Bounds {  // levels of the topology, by their places
  std::optional<std::size_t> required;
  std::optional<std::size_t> preferred;
};

class GangPlaces {
 public:
  // The space must outlive it and is left as it was.
  GangPlaces(NodeSpace& space, RoomTallies& tallies, const FactsIndex& index, ClassId gang,
             PoolId pool);

  // Whether there is a place for every pod; stands() has them.
  bool find(const Bounds& bounds);
  const std::vector<Stand>& stands() const { return stands_; }

  // Of a gang that was found one, on several nodes: the level that is too narrow for it.
  std::optional<std::size_t> too_narrow() const { return too_narrow_; }
  // For how many of its pods there is a place in one domain of the level at the most.
  std::int64_t most_in(std::size_t level);
  // Of a gang that was not found one: for how many of its pods there is in one domain at the most.
  std::int64_t most(const Bounds& bounds);
  // Whether some node of the pool would have the pods of each role if it were empty.
  bool is_allowed() const;

 private:
  using Domains = std::vector<const LevelDomain*>;
  // One role, its pods and what room there is for them.
  struct Role {
    ShapeId shape = 0;
    std::int64_t pods = 0;
    RoomTally* room = nullptr;
  };
  bool find_node(const Bounds& bounds);
  Domains holding(std::size_t level) const;
  Domains most_first(std::size_t level);
  bool is_before(DomainId a, DomainId b) const;
  // How many of the gang's pods these domains take, one after the other; nullptr: the whole pool.
  std::int64_t fill(const Domains* domains);
  std::int64_t fill_domain(const LevelDomain& domain, const Role& role, std::int64_t pods);
  std::int64_t fill_pool(const Role& role);
  std::int64_t put(const Role& role, std::uint32_t rank, std::int64_t pods);

  NodeSpace& space_;
  const Catalog& catalog_;
  PoolId pool_;
  std::int64_t pods_ = 0;
  std::vector<Role> roles_;
  std::vector<Stand> stands_;
  std::optional<std::size_t> too_narrow_;
};

}  // namespace berth::queue
