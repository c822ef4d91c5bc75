// SPDX-License-Identifier: Apache-2.0
// The reference model of nodes that an elastic pool may still get (rule 8), counted node by node.
#pragma once

#include "tests/queue/model_places.h"

namespace berth::queue::test {

struct ModelGrowth {
  explicit ModelGrowth(const ClusterFacts& cluster) : facts(cluster) {}

  // Whether the workload may be admitted to nodes that the autoscaler may add.
  bool holds(const std::map<Role, std::int64_t>& roles, const std::string& pool) const;
  // How many of these nodes no admitted workload waits for; nullopt: the pool is not elastic.
  std::optional<std::int64_t> nodes_left(const std::string& pool) const;

  const ClusterFacts& facts;
  std::map<std::string, std::map<Role, std::int64_t>> waiting;  // by pool; unpinned pods

 private:
  std::int64_t nodes_of(const std::string& pool) const;
  std::map<Role, std::int64_t> waiting_in(const std::string& pool) const;
  std::int64_t on_one_node(const Role& role, const std::string& pool) const;
  std::int64_t nodes_for(const std::map<Role, std::int64_t>& roles, const std::string& pool) const;
};

}  // namespace berth::queue::test
