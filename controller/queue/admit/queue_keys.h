// SPDX-License-Identifier: Apache-2.0
// QueueKeys: which reconcilers of the queues each watched change makes due. Once there is a
// GPUQueue:
//   - every change that the index follows: decisions and reports
//   - a ledger entry, and the objects of an admitted workload: the workload's release
//   - a drained queue: its admitted workloads
//   - a pinned pod that is not bound: its workload
//   - a node that goes out of service: the workloads on it
//   - a Job that may be late: the Job
#pragma once

#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"
#include "controller/queue/index/cluster_index.h"

namespace berth::queue {

// Returns the keys that concern all queues together.
std::vector<std::string> queue_keys(const ClusterState& cluster);
// Returns these and the release keys of all admitted workloads that are still gated or suspended.
std::vector<std::string> all_queue_keys(const ClusterState& cluster, const Settings& settings);

std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const berth::Pod* old, const berth::Pod* now);
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const Node* old, const Node* now);
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const berth::Job* old, const berth::Job* now);
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const ConfigMap* old, const ConfigMap* now);
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const GPUQueue* old, const GPUQueue* now);
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const Namespace* old, const Namespace* now);
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const ResourceQuota* old, const ResourceQuota* now);
template <class T>
requires Follows<ClusterIndex, T> std::vector<std::string> queue_keys_for(
    const ClusterState& cluster, const Settings&, const T*, const T*) {
  return queue_keys(cluster);
}

}  // namespace berth::queue
