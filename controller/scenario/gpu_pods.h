// SPDX-License-Identifier: Apache-2.0
// GpuPods: what pods of the simulation hold of NVIDIA's resources, told from the store's truth.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/sim/store.h"

namespace berth {

// "gpu ×2", "1g.10gb ×1"; empty for a pod that asks for none.
std::string devices_of_pod(const nlohmann::json& pod);
// What a node offers: "1g.10gb ×14, 2g.20gb ×2", or "nothing".
std::string devices_of_node(const nlohmann::json& node);
// Whether a pod that uses a GPU and has not ended is bound to the node.
bool has_gpu_pods(const sim::Store& store, const std::string& node);

}  // namespace berth
