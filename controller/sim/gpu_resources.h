// SPDX-License-Identifier: Apache-2.0
// NVIDIA's resources in the kubelet's words: who asks for them, what a node's status says of them,
// and the patches of a Node by which that changes. A patch is null if there is nothing to change.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace berth::sim {

bool asks_for_gpu(const nlohmann::json& pod);

// Of status.capacity or status.allocatable.
std::map<std::string, std::string> gpu_amounts(const nlohmann::json& node, const char* field);

// Nothing can be allocated but what is in `left`, which stays as it is. Keys stay, with 0.
nlohmann::json withdraw_patch(const nlohmann::json& node, const std::map<std::string, int>& left);
// The kubelet gives up waiting for plugins to come back: what cannot be allocated is no capacity.
nlohmann::json forget_patch(const nlohmann::json& node);

// What discovery makes of a node's labels that should be these.
nlohmann::json discovery_patch(const nlohmann::json& node,
                               const std::map<std::string, std::string>& wanted);

}  // namespace berth::sim
