// SPDX-License-Identifier: Apache-2.0
// Rollouts: each node's rollout record, parsed once per change of its annotation instead of at each
// look; and the few nodes that are needed at every step. A view (core/view.h).
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
  // Nodes whose annotation has another phase than Idle. One that a user has edited counts until it
  // is parsed: the reader decides about it.
  const NodeSet& under_way() const { return under_way_; }
  // Nodes on which a config has been given up.
  const NodeSet& with_failures() const { return with_failures_; }
  bool operator==(const Rollouts&) const = default;

 private:
  std::unordered_map<const Node*, RolloutRecord> records_;  // of nodes that have one
  NodeSet under_way_;
  NodeSet with_failures_;
};

// Returns the record from the view. For a node that is not in the store, such as the old version in
// a change, it reads the annotation.
RolloutRecord read_rollout(const ClusterState& cluster, const Node& node);

inline const NodeSet& nodes_under_way(const ClusterState& cluster) {
  return cluster.view<Rollouts>().under_way();
}

}  // namespace berth
