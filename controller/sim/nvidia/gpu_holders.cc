// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/gpu_holders.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "controller/sim/world/object_fields.h"

namespace berth::sim {
namespace {

using nlohmann::json;

bool holds_devices(const json& pod) {
  const std::string phase = text_at(pod, {"status", "phase"});
  return !text_at(pod, {"spec", "nodeName"}).empty() && phase != "Succeeded" && phase != "Failed";
}

std::size_t gpus_of(const json& pod) {
  std::size_t count = 0;
  const json* containers = find_at(pod, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return 0;
  for (const json& container : *containers) {
    const json* asked = find_at(container, {"resources", "limits", "nvidia.com/gpu"});
    if (asked == nullptr) continue;
    count += asked->is_string() ? std::stoul(asked->get<std::string>()) : asked->get<std::size_t>();
  }
  return count;
}

GpuHolder holder_of(const json& pod) {
  return {.namespace_ = text_at(pod, {"metadata", "namespace"}),
          .pod = text_at(pod, {"metadata", "name"}),
          .uid = text_at(pod, {"metadata", "uid"}),
          .app = text_at(pod, {"metadata", "labels", "app"}),
          .container = text_at(pod.at("spec").at("containers").front(), {"name"})};
}

}  // namespace

void GpuHolders::look(const Store& store) {
  std::vector<ObjectPtr> holding;
  std::set<std::string> there, known;
  for (const ObjectPtr& pod : store.list(*find_resource_type("pods"))) {
    if (!holds_devices(*pod) || gpus_of(*pod) == 0) continue;
    there.insert(text_at(*pod, {"metadata", "uid"}));
    holding.push_back(pod);
  }
  for (auto& [_, gpus] : nodes_) {
    std::erase_if(gpus, [&](const auto& gpu) { return !there.contains(gpu.second.uid); });
    for (const auto& [gpu, holder] : gpus) known.insert(holder.uid);
  }
  for (const ObjectPtr& pod : holding) {
    const GpuHolder holder = holder_of(*pod);
    if (known.contains(holder.uid)) continue;
    auto& gpus = nodes_[text_at(*pod, {"spec", "nodeName"})];
    std::size_t gpu = 0;
    for (std::size_t left = gpus_of(*pod); left > 0; ++gpu)
      if (gpus.try_emplace(gpu, holder).second) --left;
  }
}

const GpuHolder* GpuHolders::of(const std::string& node, std::size_t gpu) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return nullptr;
  const auto held = found->second.find(gpu);
  return held == found->second.end() ? nullptr : &held->second;
}

}  // namespace berth::sim
