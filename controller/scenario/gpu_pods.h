// SPDX-License-Identifier: Apache-2.0
// GpuPods: the NVIDIA resources of the simulation's pods and nodes, from the store.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/sim/world/store.h"

namespace berth {

// "gpu ×2", "1g.10gb ×1"; empty if the pod requests none.
std::string devices_of_pod(const nlohmann::json& pod);
// The node's resources: "1g.10gb ×14, 2g.20gb ×2", or "nothing".
std::string devices_of_node(const nlohmann::json& node);
// Whether an unfinished pod that uses a GPU is bound to the node.
bool has_gpu_pods(const sim::Store& store, const std::string& node);

}  // namespace berth
