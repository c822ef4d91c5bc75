// SPDX-License-Identifier: Apache-2.0
// Reports pods that came past the webhook: what it would have added is missing from them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

inline constexpr std::string_view kBypassKeys = "pod/";

// "pod/NAMESPACE/NAME": an event on the pod, if it slipped past. Nothing of it is changed: a pod's
// tolerations can only be added to, and its affinity not at all.
Plan reconcile_bypass(const Snapshot& snapshot, std::string_view pod);

// Which of these keys a change of the store makes due, as mig/watch_keys.h has it. A pod that is
// new here and may have slipped past is looked at once, and again when it comes to stand in a pool
// that is closed to it; news of its namespace's labels or of the policy may have come later than
// it.
std::vector<std::string> bypass_keys_for(const ClusterState&, const Settings&, const Pod* old,
                                         const Pod* now);
std::vector<std::string> bypass_keys_for(const ClusterState&, const Settings&, const Namespace* old,
                                         const Namespace* now);
std::vector<std::string> bypass_keys_for(const ClusterState&, const Settings&,
                                         const GPUClusterPolicy* old, const GPUClusterPolicy* now);
// Those that slipped past and still wait for a node, or stand in a pool that is closed to them, of
// one namespace or of all: what a new leader looks at, since nobody may have when they came.
std::vector<std::string> all_bypass_keys(const ClusterState& cluster, const Settings& settings,
                                         std::string_view namespace_ = {});

}  // namespace berth
