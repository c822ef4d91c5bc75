// SPDX-License-Identifier: Apache-2.0
// Rollouts: each node's record of its rollout, read once per change of its annotation instead of at
// each look; and the few nodes of many that somebody asks for at every step. A view (core/view.h).
#pragma once

#include <set>
#include <unordered_map>

#include "controller/core/cluster_state.h"
#include "controller/disruption/rollout_annotation.h"

namespace berth {

struct NodeByName {
  bool operator()(const Node* a, const Node* b) const { return a->meta.name < b->meta.name; }
};
using NodeSet = std::set<const Node*, NodeByName>;

class Rollouts {
 public:
  void follow(const Change<Node>& change);

  // nullptr: the node has none, or this is not the object in the store.
  const RolloutRecord* find(const Node& node) const;
  // Whose annotation says another phase than Idle. One that a person rewrote counts until it is
  // read: what it says in full is the reader's to judge.
  const NodeSet& under_way() const { return under_way_; }
  // On which a config has been given up.
  const NodeSet& with_failures() const { return with_failures_; }
  bool operator==(const Rollouts&) const = default;

 private:
  std::unordered_map<const Node*, RolloutRecord> records_;  // of nodes that have one
  NodeSet under_way_;
  NodeSet with_failures_;
};

// As the view has it; of a node that is not in the store, such as the one before a change, from its
// annotation.
RolloutRecord read_rollout(const ClusterState& cluster, const Node& node);

inline const NodeSet& nodes_under_way(const ClusterState& cluster) {
  return cluster.view<Rollouts>().under_way();
}

}  // namespace berth
