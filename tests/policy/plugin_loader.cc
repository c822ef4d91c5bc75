// SPDX-License-Identifier: Apache-2.0
#include "tests/policy/plugin_loader.h"

#include <yaml-cpp/yaml.h>

#include <stdexcept>

namespace berth::test {
namespace {

using Refused = std::runtime_error;

std::string full_name(std::string name) {
  if (!name.starts_with("nvidia.com/")) name = "nvidia.com/" + name;
  if (name.size() > 63) throw Refused("name is longer than 63 characters");
  for (const char c : name.substr(11))
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '.' && c != '-')
      throw Refused("name is no DNS subdomain");
  return name;
}

void load_resources(const YAML::Node& block, bool mps, LoadedPluginConfig& config) {
  const YAML::Node resources = block["resources"];
  if (!resources || !resources.IsSequence() || resources.size() == 0)
    throw Refused("resources are required");
  config.renamed = block["renameByDefault"] && block["renameByDefault"].as<bool>();
  if (block["failRequestsGreaterThanOne"]) block["failRequestsGreaterThanOne"].as<bool>();
  for (const YAML::Node& resource : resources) {
    if (!resource["name"] || !resource["replicas"]) throw Refused("name and replicas are required");
    const std::string name = full_name(resource["name"].as<std::string>());
    const int replicas = resource["replicas"].as<int>();
    if (replicas < 2) throw Refused("replicas must be at least 2");
    if (mps && name != "nvidia.com/gpu") throw Refused("MPS shares whole GPUs only");
    if (mps && replicas > 48) throw Refused("MPS has 48 clients at most");
    config.replicas[name] = replicas;
  }
}

// Undefined if absent; yaml-cpp throws on a look into an absent node.
YAML::Node part(const YAML::Node& file, const char* block, const char* key) {
  const YAML::Node parent = file[block];
  return parent && parent.IsMap() ? parent[key] : YAML::Node(YAML::NodeType::Undefined);
}

void load(const YAML::Node& file, LoadedPluginConfig& config) {
  const YAML::Node version = file["version"];
  if (version && version.as<std::string>() != "v1") throw Refused("unknown version");
  if (const YAML::Node strategy = part(file, "flags", "migStrategy"))
    config.mig_strategy = strategy.as<std::string>();
  if (config.mig_strategy != "none" && config.mig_strategy != "single" &&
      config.mig_strategy != "mixed")
    throw Refused("unknown migStrategy");
  // With both, MPS wins and time-slicing is ignored.
  if (const YAML::Node mps = part(file, "sharing", "mps")) {
    if (config.mig_strategy == "mixed") throw Refused("MPS with migStrategy mixed");
    config.sharing = "mps";
    load_resources(mps, true, config);
  } else if (const YAML::Node slices = part(file, "sharing", "timeSlicing")) {
    config.sharing = "time-slicing";
    load_resources(slices, false, config);
  }
}

}  // namespace

std::map<std::string, int> LoadedPluginConfig::advertised(
    const std::map<std::string, int>& devices) const {
  std::map<std::string, int> out;
  for (const auto& [resource, count] : devices) {
    const auto shared = replicas.find(resource);
    if (shared == replicas.end())
      out[resource] += count;
    else
      out[renamed ? resource + ".shared" : resource] += count * shared->second;
  }
  return out;
}

LoadedPluginConfig load_plugin_config(const std::string& text) {
  LoadedPluginConfig config;
  try {
    const YAML::Node file = YAML::Load(text);
    load(file, config);
  } catch (const std::exception& refused) {
    config.error = refused.what();
  }
  return config;
}

}  // namespace berth::test
