// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/named_configs.h"

#include <fmt/format.h>

#include <string>

#include "apis/base/names.h"
#include "controller/mig/agent_file.h"
#include "controller/mig/config_geometry.h"
#include "controller/mig/config_label.h"
#include "controller/mig/preflight.h"

namespace berth {
namespace {

// The ConfigMap that the GPU operator installs, and mounts if no other is named.
constexpr char kDefaultFile[] = "default-mig-parted-config";

// all-disabled needs no file: the GPU operator writes it, and berth's file always has it.
const std::vector<MigConfigEntry>& all_disabled() {
  static const std::vector<MigConfigEntry> kEntries{
      {.device_filter = {}, .devices = "all", .mig_enabled = false, .mig_devices = {}}};
  return kEntries;
}

std::string named_file(const ClusterState& cluster) {
  for (const auto& policy : cluster.cluster_policies())
    if (!policy->mig_manager_config_map.empty()) return policy->mig_manager_config_map;
  return {};
}

}  // namespace

void ConfigFiles::follow(const Change<ConfigMap>& change) { parsed_.erase(change.old); }

const std::vector<MigConfigEntry>* ConfigFiles::find(const ConfigMap& file,
                                                     std::string_view config) const {
  const std::string* text = agent_file_of(&file);
  if (text == nullptr) return nullptr;
  std::shared_ptr<const MigConfigEntries>& parsed = parsed_[&file];
  if (parsed == nullptr) {
    Result<MigConfigEntries> entries = parse_entries(*text);
    parsed = std::make_shared<const MigConfigEntries>(entries ? *std::move(entries)
                                                              : MigConfigEntries());
  }
  const auto found = parsed->find(std::string(config));
  return found == parsed->end() ? nullptr : &found->second;
}

NamedConfigs::NamedConfigs(const Snapshot& snapshot)
    : cluster_(snapshot.cluster),
      files_(snapshot.cluster.view<ConfigFiles>()),
      agents_namespace_(snapshot.settings.agents_namespace) {
  const auto file = [&](std::string_view name) {
    return cluster_.config_maps().find(agents_namespace_, name);
  };
  const auto add = [&](std::string_view name) {
    if (const ConfigMap* config_map = file(name)) others_.push_back(config_map);
  };
  if (const std::string name = named_file(cluster_); !name.empty()) named_ = file(name);
  if (const DaemonSet* agent = find_mig_manager(snapshot))
    for (const Text& name : agent->config_map_volumes) add(name.view());
  add(snapshot.settings.mig_config_map);
  add(kDefaultFile);
}

// If no file is named, the GPU operator has mig-manager generate a file for each node and publish
// it as the node's own ConfigMap.
const std::vector<MigConfigEntry>* NamedConfigs::find(const Node& node,
                                                      std::string_view config) const {
  const auto look = [&](const ConfigMap* file) {
    return file == nullptr ? nullptr : files_.find(*file, config);
  };
  if (const auto* entries = look(named_)) return entries;
  const std::string generated = fmt::format("{}-mig-config", node.meta.name);
  if (const auto* entries = look(cluster_.config_maps().find(agents_namespace_, generated)))
    return entries;
  for (const ConfigMap* file : others_)
    if (const auto* entries = look(file)) return entries;
  return config == names::kAllDisabled ? &all_disabled() : nullptr;
}

// A label may be an alias that has no entry in the file.
const std::vector<MigConfigEntry>* NamedConfigs::find_named(const Node& node,
                                                            std::string_view label) const {
  const std::vector<MigConfigEntry>* entries = find(node, label);
  return entries != nullptr ? entries : find(node, base_config(label));
}

bool NamedConfigs::knows(const Node& node, std::string_view config) const {
  return find_named(node, config) != nullptr;
}

bool NamedConfigs::gives(const Node& node, std::string_view config, const Target& target) {
  if (config.empty() || target.model == nullptr) return false;
  const std::vector<MigConfigEntry>* entries = find_named(node, config);
  if (entries == nullptr) return false;
  auto [known, is_new] = known_.try_emplace({&target, entries});
  if (is_new) known->second = config_gives(*entries, *target.model, target.layout, target.strategy);
  return known->second;
}

}  // namespace berth
