// SPDX-License-Identifier: Apache-2.0
// NodeGroups: a cluster's nodes, folded by what keeps one pod off them. Each node stands in one
// group, that of the obstacle which decides.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/fit.h"
#include "controller/core/pools.h"
#include "controller/core/snapshot.h"

namespace berth {

// In the order in which they are told: what is nearest to a place comes first.
enum class NodeFate {
  kFits,
  kFull,
  kComing,       // out, or not cut yet, for a layout: will take the pod once that is done
  kTainted,      // with taints that the pod could tolerate
  kNotSelected,  // by its nodeSelector or node affinity
  kNotEligible,  // of a pool that the pod's namespace may not use
  kLeaving,      // out for a layout, and will not offer what the pod asks for
  kTooSmall,     // has less in all than the pod asks for
  kTroubled,     // Kubernetes' own taints: pressure, no network, shut down
  kCordoned,     // not by berth
  kNotReady,
  kLacksGpu,
};
const char* to_string(NodeFate fate);         // the reason, for scripts
std::string_view short_words(NodeFate fate);  // "full", for counts

struct NodeGroup {
  NodeFate fate = NodeFate::kFits;
  std::string words;               // what keeps the pod off these nodes
  std::vector<std::string> nodes;  // by name
  std::vector<std::string> only;   // those with nothing else in the way
  std::set<Fit::Verdict> besides;  // what else is in the way of the others
  std::vector<Taint> taints;       // kTainted
  const PoolSpec* pool = nullptr;  // kNotEligible
  // kNotSelected, and kNotEligible where the pod would not go there either if it might: what is
  // asked for; what these nodes have.
  std::string unmet, offered;
};

// Sorted by fate, then by number of nodes, most first.
std::vector<NodeGroup> group_nodes(const Snapshot& snapshot, const Fit& fit, const Pod& pod);

// Set by Kubernetes itself; nobody should tolerate them to find a place.
bool is_kubernetes_own(const Taint& taint);

// Whether pods of the namespace may use the pool; yes where that is not known.
bool eligible(const ClusterState& cluster, const PoolSpec& pool, std::string_view namespace_);

}  // namespace berth
