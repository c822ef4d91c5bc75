// SPDX-License-Identifier: Apache-2.0
// WatchKeys: which reconcile keys a change in the store makes due. The shell calls keys_for after
// it has changed the store, and only if the decoded part of the object changed: heartbeats enqueue
// nothing.
#pragma once

#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"

namespace berth {

// `old` is the previous version and `now` the new one in the store. Either may be null, but not
// both. The result is sorted and has each key once. Layouts do not depend on kinds without an
// overload.
std::vector<std::string> mig_keys_for(const ClusterState&, const Settings&, const MIGLayout* old,
                                      const MIGLayout* now);
std::vector<std::string> mig_keys_for(const ClusterState&, const Settings&, const Node* old,
                                      const Node* now);
std::vector<std::string> mig_keys_for(const ClusterState&, const Settings&, const Pod* old,
                                      const Pod* now);
std::vector<std::string> mig_keys_for(const ClusterState&, const Settings&,
                                      const PodDisruptionBudget* old,
                                      const PodDisruptionBudget* now);
std::vector<std::string> mig_keys_for(const ClusterState&, const Settings&, const Job* old,
                                      const Job* now);
std::vector<std::string> mig_keys_for(const ClusterState&, const Settings&, const ConfigMap* old,
                                      const ConfigMap* now);
std::vector<std::string> mig_keys_for(const ClusterState&, const Settings&, const DaemonSet* old,
                                      const DaemonSet* now);
std::vector<std::string> mig_keys_for(const ClusterState&, const Settings&,
                                      const ClusterPolicy* old, const ClusterPolicy* now);

// Windows, blackouts and budgets limit every layout.
std::vector<std::string> mig_keys_for(const ClusterState&, const Settings&,
                                      const GPUClusterPolicy* old, const GPUClusterPolicy* now);

// Nominal quotas count as dependants, and Jobs of a queue are suspended instead of evicted.
std::vector<std::string> mig_keys_for(const ClusterState&, const Settings&, const GPUQueue* old,
                                      const GPUQueue* now);

// Returns all keys, for a new leader and for a resync. "agent-config" and "slots" come first.
std::vector<std::string> all_mig_keys(const ClusterState& cluster, const Settings& settings);

}  // namespace berth
