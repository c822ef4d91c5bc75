// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/plugin_sharing.h"

#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>

#include "controller/sim/world/object_fields.h"

namespace berth::sim {
namespace {

void read_sharing(const YAML::Node& file, PluginSharing& out) {
  const YAML::Node any = file["sharing"];
  if (!any.IsDefined() || !any.IsMap()) return;
  for (const auto& [field, shown] : {std::pair{"timeSlicing", "time-slicing"}, {"mps", "mps"}}) {
    const YAML::Node sharing = any[field];
    if (!sharing.IsDefined() || !sharing.IsMap()) continue;
    out.strategy = shown;
    out.renames = sharing["renameByDefault"].as<bool>(false);
    for (const YAML::Node& resource : sharing["resources"])
      out.replicas[resource["name"].as<std::string>()] = resource["replicas"].as<int>();
  }
}

}  // namespace

std::map<std::string, int> PluginSharing::offered(const std::map<std::string, int>& devices) const {
  std::map<std::string, int> out;
  if (crashes) return out;
  for (const auto& [resource, count] : devices) {
    const auto found = replicas.find(resource);
    if (found == replicas.end())
      out[resource] += count;
    else
      out[resource + (renames ? ".shared" : "")] += count * found->second;
  }
  return out;
}

void PluginSharing::relabel(std::map<std::string, std::string>& labels) const {
  const auto gpu = replicas.find("nvidia.com/gpu");
  if (gpu == replicas.end() || labels["nvidia.com/gpu.replicas"] == "0") return;
  labels["nvidia.com/gpu.replicas"] = std::to_string(gpu->second);
  labels["nvidia.com/gpu.sharing-strategy"] = strategy;
  if (!renames) labels["nvidia.com/gpu.product"] += "-SHARED";
}

PluginSharing read_plugin_sharing(const Store& store, const GpuAgentOptions& options,
                                  const std::string& key) {
  PluginSharing out;
  if (key.empty()) return out;
  const ObjectPtr map = store.find(
      {find_resource_type("configmaps"), options.agent_namespace, options.plugin_config_map});
  const std::string text = map == nullptr ? "" : text_at(*map, {"data", key.c_str()});
  out.crashes = text.empty();
  try {
    if (!out.crashes) read_sharing(YAML::Load(text), out);
  } catch (const YAML::Exception&) {
    out.crashes = true;
  }
  return out;
}

}  // namespace berth::sim
