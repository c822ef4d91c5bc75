// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/plugin_preflight.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/reasons.h"

namespace berth {
namespace {

enum class Reader { kNobody, kPlugin, kOtherFile };

// The operator's word counts before what its DaemonSets still mount: it is about to change them.
Reader who_reads(const Snapshot& snapshot, const std::string& wanted) {
  for (const auto& nvidia : snapshot.cluster.cluster_policies()) {
    if (nvidia->device_plugin_config_map == wanted) return Reader::kPlugin;
    if (!nvidia->device_plugin_config_map.empty()) return Reader::kOtherFile;
  }
  const auto mounts = [&](const auto& set) {
    return set->meta.namespace_ == std::string_view(snapshot.settings.agents_namespace) &&
           std::ranges::any_of(set->config_map_volumes,
                               [&](const Text& name) { return name == std::string_view(wanted); });
  };
  return std::ranges::any_of(snapshot.cluster.daemon_sets(), mounts) ? Reader::kPlugin
                                                                     : Reader::kNobody;
}

}  // namespace

std::optional<Cause> plugin_not_configured(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                           const PoolSurvey& survey) {
  const auto asks = std::ranges::find_if(
      survey.pools, [](const PoolFacts& facts) { return facts.plugin && facts.nodes > 0; });
  if (asks == survey.pools.end()) return std::nullopt;
  const std::string& wanted = policy.spec.agents.device_plugin_config_map;
  if (who_reads(snapshot, wanted) == Reader::kPlugin) return std::nullopt;
  if (snapshot.cluster.cluster_policies().size() == 0)
    return Cause{
        reasons::kPluginNotConfigured,
        fmt::format("mount ConfigMap {} into the device plugin, or name it in a ClusterPolicy: no "
                    "DaemonSet in namespace {} reads it yet, and pool {} has a config in it",
                    wanted, snapshot.settings.agents_namespace, asks->pool->name)};
  // What to do first: the end is what is cut.
  return Cause{
      reasons::kPluginNotConfigured,
      fmt::format("run kubectl patch clusterpolicy {} --type merge -p "
                  R"('{{"spec":{{"devicePlugin":{{"config":{{"name":"{}","default":"{}"}}}}}}}}': )"
                  "the device plugin does not read the config of pool {} yet",
                  (*snapshot.cluster.cluster_policies().begin())->meta.name, wanted,
                  kDefaultPluginConfig, asks->pool->name)};
}

}  // namespace berth
