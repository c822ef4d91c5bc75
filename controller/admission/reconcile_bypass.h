// SPDX-License-Identifier: Apache-2.0
// Reports pods that were created without review: they lack what the webhook would have added.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

inline constexpr std::string_view kBypassKeys = "pod/";

// "pod/NAMESPACE/NAME": records an event on the pod if it was created without review. berth does
// not change the pod: a pod's tolerations can only be added to, and its affinity is immutable.
Plan reconcile_bypass(const Snapshot& snapshot, std::string_view pod);

// The keys that a change of the store makes due, as in mig/watch_keys.h. berth looks at a new pod
// once, and again when it gets a node in a pool that is closed to it. Changes of the namespace's
// labels or of the policy may arrive after the pod, so they make its key due too.
std::vector<std::string> bypass_keys_for(const ClusterState&, const Settings&, const Pod* old,
                                         const Pod* now);
std::vector<std::string> bypass_keys_for(const ClusterState&, const Settings&, const Namespace* old,
                                         const Namespace* now);
std::vector<std::string> bypass_keys_for(const ClusterState&, const Settings&,
                                         const GPUClusterPolicy* old, const GPUClusterPolicy* now);
// Pods created without review, of one namespace or of all, that are unscheduled or run in a pool
// that is closed to them. A new leader checks them all, since there may have been no leader before.
std::vector<std::string> all_bypass_keys(const ClusterState& cluster, const Settings& settings,
                                         std::string_view namespace_ = {});

}  // namespace berth
