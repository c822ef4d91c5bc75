// SPDX-License-Identifier: Apache-2.0
// RolloutInvariants: what must hold all through a rollout, judged at every write of berth's that
// the API server took. A breach is noted on the cluster and fails the test.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "controller/core/plan.h"
#include "tests/mig/memory_cluster.h"

namespace berth::test {

class RolloutInvariants {
 public:
  // A person has cordoned the node: berth must never undo it.
  void keep_cordon(const std::string& node) { persons_cordons_.insert(node); }

  // What a write is judged against: look before it is applied, check after.
  struct Before {
    std::map<std::string, std::int64_t> capacity;
    std::optional<Node> node;  // the patched one
  };
  static Before look_before(const MemoryCluster& world, const Write& write);
  void check_write(MemoryCluster& world, const Before& before, const Write& write);

  // Of an eviction or deletion that is about to be carried out.
  void check_removal(MemoryCluster& world, const ObjectRef& pod);

 private:
  void check_node_write(MemoryCluster& world, const Node& before, const Node& after,
                        const Write& write);
  void check_capacity(MemoryCluster& world, const Before& before, const Write& write);
  void check_budget(MemoryCluster& world);

  struct Relabel {
    std::string node, config;
    std::int64_t attempt, seq;
    auto operator<=>(const Relabel&) const = default;
  };
  std::set<Relabel> relabels_;
  std::set<std::string> persons_cordons_;
};

}  // namespace berth::test
