// SPDX-License-Identifier: Apache-2.0
// NodeEdits: the changes of a pod that would make it fit one node, tried on the present cluster:
// its node selection, its tolerations, its GPU count.
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
  std::optional<Unmet> select;  // the part of its selection that the node does not meet
  std::string meant;            // the node's value, if the pod's is probably a typing error
  std::string selector_line;    // the nodeSelector with that value; empty: remove the entry
  std::vector<Taint> tolerate;
  std::int64_t count = 0;  // a smaller count of its GPU resource; 0: unchanged
  std::string besides;     // an obstacle that no edit of the pod removes; empty: it fits

  bool suffices() const { return besides.empty(); }
  std::size_t size() const {
    return (select ? 1u : 0u) + !tolerate.empty() + (count > 0 ? 1u : 0u);
  }
};

// nullopt if no edit of the pod could lead to this node.
std::optional<NodeEdits> edits_for(const ClusterState& cluster, const Fit& fit, const Pod& pod,
                                   const Node& node);

}  // namespace berth
