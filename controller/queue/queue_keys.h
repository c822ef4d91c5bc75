// SPDX-License-Identifier: Apache-2.0
// Which keys of the queues' reconciler each watched kind makes due: whatever the index follows,
// once there is a GPUQueue. At most once a second all of it is one cycle.
#pragma once

#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"
#include "controller/queue/cluster_index.h"
#include "controller/queue/reconcile.h"

namespace berth {

inline std::vector<std::string> all_queue_keys(const ClusterState& cluster) {
  if (cluster.gpu_queues().size() == 0) return {};
  return {std::string(kQueuesKey)};
}

template <class T>
requires Follows<queue::ClusterIndex, T> std::vector<std::string> queue_keys_for(
    const ClusterState& cluster, const Settings&, const T*, const T*) {
  return all_queue_keys(cluster);
}

}  // namespace berth
