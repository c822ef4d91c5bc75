// SPDX-License-Identifier: Apache-2.0
// Project: runs the controller's own reconcilers on a copy of the cluster, as if every step
// succeeded at once, until nothing is left to do.
#pragma once

#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"
#include "controller/preview/projection.h"

namespace berth {

// `given` are the layouts to be applied first, as the manifests say; a layout of the same name
// keeps its identity. `now` is the time at which the cluster was looked at.
Projection project(const ClusterState& cluster, const std::vector<MIGLayout>& given,
                   const Settings& settings, Time now);

}  // namespace berth
