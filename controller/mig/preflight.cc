// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/preflight.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/refused_write.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/rollouts.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"

namespace berth {
namespace {

std::set<std::string> named_by(const Node& node, const RolloutRecord& record) {
  std::set<std::string> named{base_config(label_of(node, names::kMigConfig))};
  if (record.rollout) named.insert({record.rollout->config, record.rollout->previous});
  named.erase("");
  return named;
}

}  // namespace

const DaemonSet* find_mig_manager(const Snapshot& snapshot) {
  const DaemonSet* by_label = nullptr;
  for (const auto& set : snapshot.cluster.daemon_sets()) {
    if (set->meta.namespace_ != std::string_view(snapshot.settings.agents_namespace)) continue;
    if (set->meta.name == snapshot.settings.mig_manager_daemon_set) return set.get();
    if (set->meta.labels.get("app") == "nvidia-mig-manager") by_label = set.get();
  }
  return by_label;
}

std::optional<std::string> agent_not_configured(const Snapshot& snapshot) {
  const std::string& wanted = snapshot.settings.mig_config_map;
  const DaemonSet* agent = find_mig_manager(snapshot);
  if (agent != nullptr && std::ranges::any_of(agent->config_map_volumes, [&](const Text& name) {
        return name == std::string_view(wanted);
      }))
    return std::nullopt;
  for (const auto& policy : snapshot.cluster.cluster_policies())
    if (policy->mig_manager_config_map == wanted) return std::nullopt;

  if (snapshot.cluster.cluster_policies().size() > 0)
    return fmt::format(
        "mig-manager does not read berth's file yet; set in NVIDIA's ClusterPolicy: "
        "spec.migManager.config.name: {}",
        wanted);
  if (agent == nullptr)
    return fmt::format(
        "install NVIDIA's GPU operator, or name its namespace with --agents-namespace (chart: "
        "nvidia.namespace): there is no DaemonSet {} in namespace {}",
        snapshot.settings.mig_manager_daemon_set, snapshot.settings.agents_namespace);
  // The advice comes first, because a long message is cut at its end.
  return fmt::format(
      "set spec.migManager.config.name: {0} in a ClusterPolicy, or mount ConfigMap {0}: no "
      "DaemonSet {1}/{2} reads it yet",
      wanted, snapshot.settings.agents_namespace, snapshot.settings.mig_manager_daemon_set);
}

bool runs_mig_manager(const Snapshot& snapshot, const Node& node) {
  const DaemonSet* agent = find_mig_manager(snapshot);
  if (agent == nullptr || agent->node_selector.empty())
    return label_of(node, names::kDeployMigManager) == "true";
  return std::ranges::all_of(agent->node_selector, [&](const auto& term) {
    return label_of(node, term.first.view()) == term.second.view();
  });
}

const ConfigMap* find_agent_config(const Snapshot& snapshot) {
  return snapshot.cluster.config_maps().find(snapshot.settings.agents_namespace,
                                             snapshot.settings.mig_config_map);
}

std::set<std::string> configs_named_by_nodes(const Snapshot& snapshot) {
  std::set<std::string> named;
  std::string_view last;  // most nodes name the same config as the node before
  for (const auto& node : snapshot.cluster.nodes()) {
    const std::string_view label = label_of(*node, names::kMigConfig);
    const bool is_told = label == last && !node->meta.annotations.find(names::kRolloutAnnotation);
    last = label;
    if (!is_told) named.merge(configs_named_by(snapshot.cluster, *node));
  }
  return named;
}

std::vector<std::string> configs_not_copied(const Snapshot& snapshot) {
  std::vector<std::string> missing;
  for (const std::string& name : configs_named_by_nodes(snapshot))
    if (!config_is_rendered(snapshot, name)) missing.push_back(name);
  return missing;
}

std::set<std::string> configs_named_by(const ClusterState& cluster, const Node& node) {
  return named_by(node, read_rollout(cluster, node));
}

std::set<std::string> configs_named_by(const Node& node) {
  return named_by(node, read_rollout(node));
}

bool config_is_rendered(const Snapshot& snapshot, std::string_view config) {
  return config_is_rendered(snapshot.cluster, snapshot.settings, config);
}

bool config_is_rendered(const ClusterState& cluster, const Settings& settings,
                        std::string_view config) {
  const ConfigMap* config_map =
      cluster.config_maps().find(settings.agents_namespace, settings.mig_config_map);
  if (seeded(SeededBug::kApplyUnrendered)) return true;
  if (config_map == nullptr) return false;
  auto file = config_map->data.find(names::kMigPartedKey);
  if (file == config_map->data.end()) return false;
  // berth writes the whole file, so a key of mig-configs is alone on its line, bare or quoted.
  return file->second.find(fmt::format("\n  {}:", config)) != std::string::npos ||
         file->second.find(fmt::format("\n  \"{}\":", config)) != std::string::npos;
}

Cause file_lacks(const Snapshot& snapshot, std::string_view config) {
  const ObjectRef file = agent_config_ref(snapshot);
  if (const auto refused = refused_write(snapshot, file, names::kManagerMig))
    return {reasons::kWriteRefused, fmt::format("ConfigMap {}: {}", file.name, refused->message)};
  return {reasons::kConfigNotRendered,
          fmt::format("ConfigMap {}/{} does not hold {} yet", file.namespace_, file.name, config)};
}

ObjectRef agent_config_ref(const Snapshot& snapshot) {
  const ConfigMap* standing = find_agent_config(snapshot);
  return {"ConfigMap", snapshot.settings.agents_namespace, snapshot.settings.mig_config_map,
          standing != nullptr ? standing->meta.uid : std::string()};
}

std::optional<Time> agent_config_changed_at(const Snapshot& snapshot) {
  const ConfigMap* config_map = find_agent_config(snapshot);
  if (config_map == nullptr) return std::nullopt;
  const Text* text = config_map->meta.annotations.find(kRenderedAtAnnotation);
  if (text == nullptr) return std::nullopt;
  Result<Time> time = parse_time(text->view());
  return time ? std::optional<Time>(*time) : std::nullopt;
}

}  // namespace berth
