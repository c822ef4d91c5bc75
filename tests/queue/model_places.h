// SPDX-License-Identifier: Apache-2.0
// The reference model of rule 8: it places pod after pod on nodes, with plain maps.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/queue/cluster_facts.h"

namespace berth::queue::test {

using Asks = std::map<std::string, std::int64_t>;
// A pod's requests, the nodes that its selectors allow, its rules, and whether all that is
// modelled.
using Role = std::tuple<Amounts, PoolNames, std::string, bool>;

struct ModelPlaces {
  explicit ModelPlaces(const ClusterFacts& cluster) : facts(cluster) {}

  using Stands = std::vector<std::pair<Role, std::string>>;  // a pod of the role and its node

  // nullopt: not every pod fits.
  std::optional<Stands> find(const std::map<Role, std::int64_t>& roles, const std::string& pool,
                             const TopologyWish& wish, bool of_job);
  // How many pods fit on nodes, or, if a topology domain is required, in the best domain.
  std::int64_t most(const std::map<Role, std::int64_t>& roles, const std::string& pool,
                    const TopologyWish& wish, bool of_job);
  bool is_allowed(const std::map<Role, std::int64_t>& roles, const std::string& pool) const;
  bool knows(const std::string& level) const;
  // The device of the role that is placed first.
  static std::string first_device(const std::map<Role, std::int64_t>& roles);

  std::int64_t free_on(const NodeFact& node, const std::string& resource) const;
  void take(const std::string& node, const Amounts& requests, std::int64_t pods);

  const ClusterFacts& facts;
  std::map<std::string, Asks> taken, bound;  // by node; bound pods count as taken too

 private:
  struct Domain {
    std::vector<std::string> path;
    std::vector<const NodeFact*> nodes;
  };
  using Ordered = std::vector<std::pair<Role, std::int64_t>>;
  static Ordered in_order(const std::map<Role, std::int64_t>& roles);
  std::size_t level(const std::string& name) const;
  std::vector<const NodeFact*> nodes_of(const std::string& pool) const;
  std::vector<const NodeFact*> nodes_for(const Ordered& roles, const std::string& pool,
                                         bool of_job) const;
  std::vector<Domain> domains_of(const std::vector<const NodeFact*>& nodes,
                                 std::size_t level) const;
  std::int64_t room(const Domain& domain, const Role& role) const;
  bool has_room(const NodeFact& node, const Role& role) const;
  bool allows(const NodeFact& node, const Role& role) const;
  static bool may_split(const NodeFact& node, const Role& role);
  Stands fill(const Ordered& roles, const std::vector<Domain>& domains);
};

}  // namespace berth::queue::test
