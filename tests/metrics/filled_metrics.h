// SPDX-License-Identifier: Apache-2.0
// What a controller and a webhook say, each of their metrics at least once.
#pragma once

#include "controller/core/cluster_state.h"
#include "controller/runtime/metrics.h"

namespace berth::test {

// A policy with two pools, two layouts; n1 is in service, n2 drains, n3 has failed, n4 is cordoned
// by a person, n5 is not ready.
ClusterState sample_cluster();
// Of that cluster, by the reconcilers that the controller is given.
Figures sample_figures();
void fill(Metrics& metrics);

}  // namespace berth::test
