// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/nodes_out.h"

#include <algorithm>

#include "controller/disruption/rollout_annotation.h"
#include "controller/fleet/node_facts.h"

namespace berth {

std::vector<const Node*> nodes_out(const ClusterState& cluster) {
  std::vector<const Node*> out;
  for (const auto& node : cluster.nodes())
    if (has_gpus(*node) && (!in_service(*node) || !read_rollout(*node).idle()))
      out.push_back(node.get());
  std::ranges::sort(out, {}, [](const Node* node) { return std::string_view(node->meta.name); });
  return out;
}

}  // namespace berth
