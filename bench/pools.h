// SPDX-License-Identifier: Apache-2.0
// Pools over a fleet, for measurements: its nodes in four tiers, a pool of labels and a taint for
// each, the third one shared in time slices.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/fleet.h"

namespace berth {

// Labels each node with its tier, and tells NVIDIA's operator where the device plugin's file is.
void put_in_tiers(Fleet& fleet);

// A GPUClusterPolicy of a pool for each tier, whose pods get /dev/shm.
nlohmann::json make_policy();

}  // namespace berth
