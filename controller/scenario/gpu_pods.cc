// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/gpu_pods.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "apis/kinds/core.h"
#include "controller/sim/world/object_fields.h"

namespace berth {
namespace {

using nlohmann::json;

std::string short_name(const std::string& resource) {
  for (std::string_view prefix : {"nvidia.com/mig-", "nvidia.com/"})
    if (resource.starts_with(prefix)) return resource.substr(prefix.size());
  return resource;
}

// The GPU resources with a count above zero.
std::string shown(const json* resources) {
  std::string text;
  if (resources == nullptr || !resources->is_object()) return text;
  for (const auto& [name, count] : resources->items()) {
    if (!is_gpu_resource(name)) continue;
    const std::string number = count.is_string() ? count.get<std::string>() : count.dump();
    if (number != "0")
      text += fmt::format("{}{} ×{}", text.empty() ? "" : ", ", short_name(name), number);
  }
  return text;
}

}  // namespace

std::string devices_of_pod(const json& pod) {
  const json* containers = sim::find_at(pod, {"spec", "containers"});
  if (containers == nullptr) return "";
  for (const json& container : *containers)
    if (std::string text = shown(sim::find_at(container, {"resources", "requests"})); !text.empty())
      return text;
  return "";
}

std::string devices_of_node(const json& node) {
  std::string text = shown(sim::find_at(node, {"status", "allocatable"}));
  return text.empty() ? "nothing" : text;
}

bool has_gpu_pods(const sim::Store& store, const std::string& node) {
  for (const sim::ObjectPtr& pod : store.list(*sim::find_resource_type("pods"))) {
    const std::string phase = sim::text_at(*pod, {"status", "phase"});
    if (phase != "Succeeded" && phase != "Failed" &&
        sim::text_at(*pod, {"spec", "nodeName"}) == node && !devices_of_pod(*pod).empty())
      return true;
  }
  return false;
}

}  // namespace berth
