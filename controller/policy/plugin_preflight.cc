// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/plugin_preflight.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/reasons.h"

namespace berth {
std::optional<Cause> plugin_not_configured(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                           const PoolSurvey& survey, const PluginFile& file) {
  const auto asks = std::ranges::find_if(
      survey.pools, [](const PoolFacts& facts) { return facts.plugin && facts.nodes > 0; });
  if (asks == survey.pools.end()) return std::nullopt;
  const std::string& wanted = policy.spec.agents.device_plugin_config_map;
  if (plugin_reader(snapshot, wanted).reads_ours) return std::nullopt;
  if (file.kept())
    if (std::optional<Cause> lost = file.kept()->lost()) return lost;
  if (snapshot.cluster.cluster_policies().size() == 0)
    return Cause{
        reasons::kPluginNotConfigured,
        fmt::format("mount ConfigMap {} into the device plugin, or name it in a ClusterPolicy: no "
                    "DaemonSet in namespace {} reads it yet, and pool {} has a config in it",
                    wanted, snapshot.settings.agents_namespace, asks->pool->name)};
  // The advice comes first, because a long message is cut at its end.
  return Cause{
      reasons::kPluginNotConfigured,
      fmt::format("run kubectl patch clusterpolicy {} --type merge -p "
                  R"('{{"spec":{{"devicePlugin":{{"config":{{"name":"{}","default":"{}"}}}}}}}}': )"
                  "the device plugin does not read the config of pool {} yet",
                  (*snapshot.cluster.cluster_policies().begin())->meta.name, wanted,
                  file.kept() ? file.kept()->default_key() : kDefaultPluginConfig,
                  asks->pool->name)};
}

}  // namespace berth
