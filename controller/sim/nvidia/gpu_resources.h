// SPDX-License-Identifier: Apache-2.0
// GpuResources: NVIDIA's resources in the kubelet's view: which pods request them, what a node's
// status reports, and patches of a Node that change it. A patch is null if there is nothing to
// change.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace berth::sim {

bool asks_for_gpu(const nlohmann::json& pod);

// From status.capacity or status.allocatable.
std::map<std::string, std::string> gpu_amounts(const nlohmann::json& node, const char* field);

// Sets allocatable to 0, except for the amounts in `left`. The keys stay.
nlohmann::json withdraw_patch(const nlohmann::json& node, const std::map<std::string, int>& left);
// The kubelet stops waiting for the plugin: capacity becomes what is allocatable.
nlohmann::json forget_patch(const nlohmann::json& node);

// The patch with which discovery changes a node's labels to `wanted`.
nlohmann::json discovery_patch(const nlohmann::json& node,
                               const std::map<std::string, std::string>& wanted);

}  // namespace berth::sim
