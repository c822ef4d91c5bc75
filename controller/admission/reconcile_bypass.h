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

// A pod that is new here and may have slipped past is looked at once, and again when it comes to
// stand in a pool that is closed to it.
std::vector<std::string> bypass_keys_for(const ClusterState& cluster, const Pod* old,
                                         const Pod* now);
// Those that slipped past and still wait for a node, or stand in a pool that is closed to them, of
// one namespace or of all: what a new leader looks at, since nobody may have when they came, and
// what news of the policy or of a namespace makes due, since it may have come later than they.
std::vector<std::string> all_bypass_keys(const ClusterState& cluster, const Settings& settings,
                                         std::string_view namespace_ = {});

}  // namespace berth
