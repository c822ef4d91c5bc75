// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/lost_places.h"

#include <algorithm>

#include "controller/fleet/node_facts.h"

namespace berth::queue {

bool is_lost(const ClusterState& cluster, const std::string& node) {
  const Node* standing = cluster.nodes().find(node);
  return standing == nullptr || !in_service(*standing);
}

bool has_lost_its_place(const ClusterState& cluster, const Workload& workload,
                        const AdmissionFact& admission) {
  if (workload.pods && !workload.pods->admitted.empty()) return false;
  return std::ranges::any_of(admission.nodes,
                             [&](const std::string& node) { return is_lost(cluster, node); });
}

}  // namespace berth::queue
