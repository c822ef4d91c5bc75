// SPDX-License-Identifier: Apache-2.0
// WatchKeys: which reconcile keys a change of the store makes due. The shell calls keys_for after
// the store has been changed and only if the decoded slice changed (heartbeats enqueue nothing).
#pragma once

#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"

namespace berth {

// `old` is the version that stood in the store, `now` the one that stands there; either may be
// null, not both. Sorted, each key once. Of the kinds without an overload no layout asks anything.
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

// Windows, blackouts and budgets bound every layout.
std::vector<std::string> mig_keys_for(const ClusterState&, const Settings&,
                                      const GPUClusterPolicy* old, const GPUClusterPolicy* now);

// Their nominal quotas count as dependants, and what they have admitted is taken back.
std::vector<std::string> mig_keys_for(const ClusterState&, const Settings&, const GPUQueue* old,
                                      const GPUQueue* now);

// Everything there is to reconcile: what a new leader enqueues, and a resync. "agent-config" and
// "slots" come first.
std::vector<std::string> all_mig_keys(const ClusterState& cluster, const Settings& settings);

}  // namespace berth
