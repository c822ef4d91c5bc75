// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/recall/lost_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "controller/fleet/node_facts.h"

namespace berth::queue {

std::string why_lost(const ClusterState& cluster, const std::string& node) {
  const Node* standing = cluster.nodes().find(node);
  if (standing == nullptr) return fmt::format("node {} is gone", node);
  if (!in_service(*standing)) return fmt::format("node {} is out of service", node);
  const std::string mark = departure_mark(*standing);
  return mark.empty() ? "" : fmt::format("node {} is about to go ({})", node, mark);
}

bool has_lost_its_place(const ClusterState& cluster, const Workload& workload,
                        const AdmissionFact& admission) {
  if (workload.pods && !workload.pods->admitted.empty()) return false;
  return std::ranges::any_of(
      admission.nodes, [&](const std::string& node) { return !why_lost(cluster, node).empty(); });
}

}  // namespace berth::queue
