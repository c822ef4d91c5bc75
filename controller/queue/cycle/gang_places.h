// SPDX-License-Identifier: Apache-2.0
// GangPlaces: finds nodes for all pods of a workload at once: one node, or the narrowest domain
// that holds them (rule 8).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/queue/cycle/node_space.h"
#include "controller/queue/cycle/room_tally.h"

namespace berth::queue {

struct Bounds {  // levels of the topology, by index
  std::optional<std::size_t> required;
  std::optional<std::size_t> preferred;
};

class GangPlaces {
 public:
  // `space` must outlive the object, which leaves it unchanged.
  GangPlaces(NodeSpace& space, RoomTallies& tallies, const FactsIndex& index, ClassId gang,
             PoolId pool);

  // Whether every pod has a node. stands() returns these nodes.
  bool find(const Bounds& bounds);
  const std::vector<Stand>& stands() const { return stands_; }

  // After find() succeeded with several nodes: the level whose domains are too narrow for the gang.
  std::optional<std::size_t> too_narrow() const { return too_narrow_; }
  // Returns the most pods of the gang that one domain of the level has room for.
  std::int64_t most_in(std::size_t level);
  // After find() failed: returns the most pods of the gang that one allowed domain has room for.
  std::int64_t most(const Bounds& bounds);
  // Whether, for each role, an empty node of the pool would take its pods.
  bool is_allowed() const;

 private:
  using Domains = std::vector<const LevelDomain*>;
  // One role of the gang, its pods and the room for them.
  struct Role {
    ShapeId shape = 0;
    std::int64_t pods = 0;
    RoomTally* room = nullptr;
  };
  bool find_node(const Bounds& bounds);
  Domains holding(std::size_t level) const;
  Domains most_first(std::size_t level);
  bool is_before(DomainId a, DomainId b) const;
  // Returns how many of the gang's pods fit into these domains, filled in this order. nullptr: the
  // whole pool.
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
