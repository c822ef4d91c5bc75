// SPDX-License-Identifier: Apache-2.0
// Which keys of the queues' reconcilers each watched kind makes due: whatever the index follows all
// that decides and tells, once there is a GPUQueue; an entry of the ledger, and the objects of what
// is admitted, their release; a queue that is drained, what it has admitted; a pod that is pinned
// and not bound, its workload; a node that goes, what stands on it; a Job
// that may be late, itself.
#pragma once

#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"
#include "controller/queue/cluster_index.h"
#include "controller/queue/reconcile.h"

namespace berth {

// Those of all queues together.
std::vector<std::string> queue_keys(const ClusterState& cluster);
// And the release of whatever is admitted and still held back.
std::vector<std::string> all_queue_keys(const ClusterState& cluster, const Settings& settings);

std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const Pod* old, const Pod* now);
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const Node* old, const Node* now);
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const Job* old, const Job* now);
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const ConfigMap* old, const ConfigMap* now);
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const GPUQueue* old, const GPUQueue* now);
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const Namespace* old, const Namespace* now);
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const ResourceQuota* old, const ResourceQuota* now);
template <class T>
requires Follows<queue::ClusterIndex, T> std::vector<std::string> queue_keys_for(
    const ClusterState& cluster, const Settings&, const T*, const T*) {
  return queue_keys(cluster);
}

}  // namespace berth
