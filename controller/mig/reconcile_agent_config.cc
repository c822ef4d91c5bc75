// SPDX-License-Identifier: Apache-2.0
// The mig-parted file: what every layout means on every kind of node it selects, and whatever any
// node still names. The agent re-asserts at each restart, so a name that a node carries must never
// vanish from the file, whoever wrote it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apis/names.h"
#include "controller/core/json_patch.h"
#include "controller/mig/agent_config.h"
#include "controller/mig/node_facts.h"
#include "controller/mig/overlap.h"
#include "controller/mig/preflight.h"
#include "controller/mig/reconcile.h"
#include "controller/mig/rollout_annotation.h"
#include "controller/mig/target.h"

namespace berth {
namespace {

constexpr char kAllDisabledContent[] = "- devices: all\n  mig-enabled: false\n";

const std::string* file_of(const ConfigMap* config_map) {
  if (config_map == nullptr) return nullptr;
  auto file = config_map->data.find(names::kMigPartedKey);
  return file == config_map->data.end() ? nullptr : &file->second;
}

// What the layouts want, on every kind of node that they select, whether it is theirs or not: who
// wins may change between two looks.
void add_wanted(const Snapshot& snapshot, MigConfigs& configs) {
  for (const auto& layout : snapshot.cluster.mig_layouts()) {
    if (!check_rules(*layout).empty()) continue;
    TargetResolver resolver(snapshot.cluster, *layout);
    for (const auto& node : snapshot.cluster.nodes()) {
      if (!selects(*layout, *node)) continue;
      const Target& target = resolver.resolve(*node);
      if (target.ok() && !configs.contains(target.config))
        add_config(configs, target.config, target.content);
    }
  }
}

// Every file in the agents' namespace in which a name could be looked up: our own first.
std::vector<MigConfigs> known_files(const Snapshot& snapshot) {
  std::vector<MigConfigs> files;
  auto add = [&](const ConfigMap* config_map) {
    const std::string* text = file_of(config_map);
    if (text == nullptr) return;
    Result<MigConfigs> parsed = parse_file(*text);
    if (parsed) files.push_back(*std::move(parsed));
  };
  const ConfigMap* ours = find_agent_config(snapshot);
  add(ours);
  for (const auto& config_map : snapshot.cluster.config_maps())
    if (config_map.get() != ours &&
        config_map->meta.namespace_ == std::string_view(snapshot.settings.agents_namespace))
      add(config_map.get());
  return files;
}

void add_named(const Snapshot& snapshot, MigConfigs& configs) {
  std::set<std::string> missing;
  for (const std::string& name : configs_named_by_nodes(snapshot))
    if (!configs.contains(name)) missing.insert(name);
  if (missing.empty()) return;
  const std::vector<MigConfigs> files = known_files(snapshot);
  for (const std::string& name : missing)
    for (const MigConfigs& file : files)
      if (auto found = file.find(name); found != file.end()) {
        add_config(configs, name, found->second);
        break;
      }
}

ObjectRef agent_config_ref(const Snapshot& snapshot, const ConfigMap* standing) {
  return {"ConfigMap", snapshot.settings.agents_namespace, snapshot.settings.mig_config_map,
          standing != nullptr ? standing->meta.uid : std::string()};
}

Write write_file(const Snapshot& snapshot, const ConfigMap* standing, const std::string& file) {
  const Settings& settings = snapshot.settings;
  Write write;
  write.object = agent_config_ref(snapshot, standing);
  write.field_manager = names::kManagerMig;
  write.reason = "render the MIGLayouts into the agents' file";
  const std::string data = fmt::format(R"({{"{}":{}}})", names::kMigPartedKey, quote_json(file));
  const std::string annotations =
      fmt::format(R"({{"{}":"{}"}})", kRenderedAtAnnotation, format_micro_time(snapshot.now));
  if (standing == nullptr) {
    write.verb = Verb::kCreate;
    write.body = fmt::format(
        R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":{},"namespace":{},)"
        R"("labels":{{"{}":"berth"}},"annotations":{}}},"data":{}}})",
        quote_json(settings.mig_config_map), quote_json(settings.agents_namespace),
        names::kManagedByLabel, annotations, data);
    return write;
  }
  write.verb = Verb::kMergePatch;
  write.body =
      fmt::format(R"({{"metadata":{{"uid":{},"resourceVersion":{},"annotations":{}}},"data":{}}})",
                  quote_json(standing->meta.uid), quote_json(standing->meta.resource_version),
                  annotations, data);
  return write;
}

}  // namespace

Plan reconcile_agent_config(const Snapshot& snapshot) {
  Plan plan;
  MigConfigs configs;
  add_config(configs, names::kAllDisabled, kAllDisabledContent);
  add_wanted(snapshot, configs);
  add_named(snapshot, configs);
  const ConfigMap* standing = find_agent_config(snapshot);
  const std::string* old_file = file_of(standing);
  // Nobody asks for anything: the chart's empty file may stay empty until somebody does.
  if (snapshot.cluster.mig_layouts().size() == 0 && (old_file == nullptr || old_file->empty()))
    return plan;
  Result<std::string> file = render_file(configs);
  if (!file) {
    // What stands is kept: every node still finds its config there.
    plan.events.push_back({agent_config_ref(snapshot, standing), true, "AgentConfigTooLarge",
                           "Render", describe(file.error())});
    return plan;
  }
  if (old_file != nullptr && *old_file == *file) return plan;
  Write write = write_file(snapshot, standing, *file);
  const ObjectRef object = write.object;
  plan.add(object, std::move(write));
  return plan;
}

}  // namespace berth
