// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/gpu_resources.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "apis/base/gpu_resource.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {
namespace {

using nlohmann::json;

// Labels that discovery removes when they are no longer true.
bool is_of_layout(std::string_view key) {
  return key.starts_with("nvidia.com/mig-") || key.starts_with("nvidia.com/gpu.slices.") ||
         key == "nvidia.com/mig.strategy";
}

}  // namespace

bool asks_for_gpu(const json& pod) {
  for (const char* list : {"containers", "initContainers"}) {
    const json* containers = find_at(pod, {"spec", list});
    if (containers == nullptr) continue;
    for (const json& container : *containers)
      if (const json* limits = find_at(container, {"resources", "limits"}))
        for (const auto& [key, amount] : limits->items())
          if (is_gpu_resource(key) && amount != "0") return true;
  }
  return false;
}

std::map<std::string, std::string> gpu_amounts(const json& node, const char* field) {
  std::map<std::string, std::string> out;
  const json* amounts = find_at(node, {"status", field});
  if (amounts == nullptr) return out;
  for (const auto& [key, amount] : amounts->items())
    if (is_gpu_resource(key) && amount.is_string()) out[key] = amount.get<std::string>();
  return out;
}

json withdraw_patch(const json& node, const std::map<std::string, int>& left) {
  json body;
  for (const auto& [key, amount] : gpu_amounts(node, "allocatable"))
    if (amount != "0" && !left.contains(key)) body["status"]["allocatable"][key] = "0";
  return body;
}

json forget_patch(const json& node) {
  const auto allocatable = gpu_amounts(node, "allocatable");
  json body;
  for (const auto& [key, amount] : gpu_amounts(node, "capacity")) {
    const auto left = allocatable.find(key);
    if (amount != "0" && (left == allocatable.end() || left->second == "0"))
      body["status"]["capacity"][key] = "0";
  }
  return body;
}

json discovery_patch(const json& node, const std::map<std::string, std::string>& wanted) {
  json body;
  for (const auto& [key, value] : wanted)
    if (text_at(node, {"metadata", "labels", key.c_str()}) != value)
      body["metadata"]["labels"][key] = value;
  if (const json* labels = find_at(node, {"metadata", "labels"}))
    for (const auto& [key, value] : labels->items())
      if (is_of_layout(key) && !wanted.contains(key)) body["metadata"]["labels"][key] = nullptr;
  return body;
}

}  // namespace berth::sim
