// SPDX-License-Identifier: Apache-2.0
// NodeEdits: what would have to be changed in a pod for one node to take it, tried on the cluster
// as it stands: its selection of nodes, its tolerations, how many GPUs it asks for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "controller/explain/unmet.h"
#include "controller/fleet/fit.h"

namespace berth {

struct NodeEdits {
  const Node* node = nullptr;
  std::optional<Unmet> select;  // what of its selection is in the way
  std::string meant;            // the node's value, where the pod's looks like a slip for it
  std::string selector_line;    // the nodeSelector with that value; empty: to be dropped
  std::vector<Taint> tolerate;
  std::int64_t count = 0;  // of its GPU resource, fewer than it asks for; 0: as it is
  std::string besides;     // what no edit of the pod mends; empty: it then fits

  bool suffices() const { return besides.empty(); }
  std::size_t size() const {
    return (select ? 1u : 0u) + !tolerate.empty() + (count > 0 ? 1u : 0u);
  }
};

// Nothing where the node is none that edits of the pod could lead to.
std::optional<NodeEdits> edits_for(const ClusterState& cluster, const Fit& fit, const Pod& pod,
                                   const Node& node);

}  // namespace berth
