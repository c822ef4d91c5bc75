// SPDX-License-Identifier: Apache-2.0
// PolicyKeys: which of the policy's reconcile keys a change of the store makes due.
#pragma once

#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"

namespace berth {

// `old` is the previous version and `now` the new one in the store. Either may be null, but not
// both. The result is sorted and has each key once. The policy does not depend on kinds without an
// overload.
std::vector<std::string> policy_keys_for(const ClusterState&, const Settings&,
                                         const GPUClusterPolicy* old, const GPUClusterPolicy* now);
std::vector<std::string> policy_keys_for(const ClusterState&, const Settings&, const Node* old,
                                         const Node* now);
std::vector<std::string> policy_keys_for(const ClusterState&, const Settings&, const Pod* old,
                                         const Pod* now);
std::vector<std::string> policy_keys_for(const ClusterState&, const Settings&, const ConfigMap* old,
                                         const ConfigMap* now);
std::vector<std::string> policy_keys_for(const ClusterState&, const Settings&,
                                         const ClusterPolicy* old, const ClusterPolicy* now);
std::vector<std::string> policy_keys_for(const ClusterState&, const Settings&, const DaemonSet* old,
                                         const DaemonSet* now);
std::vector<std::string> policy_keys_for(const ClusterState&, const Settings&,
                                         const PriorityClass* old, const PriorityClass* now);

// Returns "policy", and "pool/NODE" for every node that a pool may select.
std::vector<std::string> all_policy_keys(const ClusterState& cluster);

}  // namespace berth
