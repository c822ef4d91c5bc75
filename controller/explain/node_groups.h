// SPDX-License-Identifier: Apache-2.0
// NodeGroups: a cluster's nodes, folded by what keeps one pod off them. Each node stands in one
// group, that of the obstacle which decides.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/node_fate.h"
#include "controller/fleet/fit.h"
#include "controller/fleet/pools.h"

namespace berth {

struct NodeGroup {
  NodeFate fate = NodeFate::kFits;
  std::string words;               // what keeps the pod off these nodes
  std::vector<std::string> nodes;  // by name
  std::vector<std::string> only;   // those with nothing else in the way
  std::set<Fit::Verdict> besides;  // what else is in the way of the others
  const PoolSpec* pool = nullptr;  // kNotEligible
  // kNotSelected, and kNotEligible where the pod would not go there either if it might: what is
  // asked for; what these nodes have.
  std::string unmet, offered;
};

// Sorted by fate, then by number of nodes, most first.
std::vector<NodeGroup> group_nodes(const Snapshot& snapshot, const Fit& fit, const Pod& pod,
                                   const Clues& clues);

// Whether all pods on the nodes that could take it are there to be counted: not those of other
// namespaces that the account may not see, nor those on nodes without GPUs.
bool knows_room(const Clues& clues, const Pod& pod);

// Set by Kubernetes itself; nobody should tolerate them to find a place.
bool is_kubernetes_own(const Taint& taint);

}  // namespace berth
