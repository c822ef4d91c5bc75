// SPDX-License-Identifier: Apache-2.0
// Reports pods that came past the webhook: what it would have added is missing from them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// "pod/NAMESPACE/NAME": an event on the pod, if it slipped past. Nothing of it is changed: a pod's
// tolerations can only be added to, and its affinity not at all.
Plan reconcile_bypass(const Snapshot& snapshot, std::string_view pod);

// A pod that is new here and may have slipped past is looked at once.
std::vector<std::string> bypass_keys_for(const ClusterState& cluster, const Pod* old,
                                         const Pod* now);

}  // namespace berth
