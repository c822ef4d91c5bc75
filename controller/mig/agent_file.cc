// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/agent_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/agent_config.h"
#include "controller/mig/config_label.h"
#include "controller/mig/kept_configs.h"
#include "controller/mig/overlap.h"
#include "controller/mig/preflight.h"
#include "controller/mig/target.h"

namespace berth {
namespace {

constexpr char kAllDisabledContent[] = "- devices: all\n  mig-enabled: false\n";

struct Wanted {
  const MIGLayout* layout;
  MigConfigs configs;
  bool stands = false;  // the current file has all of them
};

// Returns the layout's configs for every kind of node that it selects, even if another layout owns
// the node: the owner may change at any time.
MigConfigs configs_of(const Snapshot& snapshot, const MIGLayout& layout) {
  MigConfigs configs;
  if (!check_rules(layout).empty()) return configs;
  TargetResolver resolver(snapshot.cluster, layout);
  // A fleet has few kinds of nodes, and more nodes of a kind add nothing.
  std::vector<InventoryTexts> done;
  for (const auto& node : snapshot.cluster.nodes()) {
    const InventoryTexts texts = inventory_texts(*node);
    if (std::ranges::find(done, texts) != done.end() || !selects(layout, *node)) continue;
    done.push_back(texts);
    const Target& target = resolver.resolve(*node);
    if (target.ok() && !configs.contains(target.config))
      add_config(configs, target.config, target.content);
  }
  return configs;
}

// Adds as many layouts as fit.
Result<AgentFile> fill(const Snapshot& snapshot, MigConfigs configs, std::size_t bytes,
                       std::vector<Wanted> wanted) {
  // Layouts that are in the file come first, then the oldest. A new layout that exceeds the limit
  // must not displace them.
  for (Wanted& w : wanted)
    w.stands = std::ranges::all_of(
        w.configs, [&](const auto& config) { return config_is_rendered(snapshot, config.first); });
  std::ranges::stable_sort(wanted, {}, [](const Wanted& w) {
    return std::make_pair(!w.stands, w.layout->meta.creation_timestamp);
  });
  AgentFile file;
  for (Wanted& w : wanted) {
    std::erase_if(w.configs, [&](const auto& config) { return configs.contains(config.first); });
    const std::size_t more = render_configs(w.configs).size();
    if (Result<void> fits = check_file_size(bytes + more); !fits) {
      file.left_out.push_back({w.layout, fits.error().message});
      continue;
    }
    bytes += more;
    configs.merge(w.configs);
  }
  Result<std::string> text = render_file(configs);
  if (!text) return std::move(text).error();
  file.text = *std::move(text);
  return file;
}

}  // namespace

const std::string* agent_file_of(const ConfigMap* config_map) {
  if (config_map == nullptr) return nullptr;
  auto file = config_map->data.find(names::kMigPartedKey);
  return file == config_map->data.end() ? nullptr : &file->second;
}

const AgentFile::LeftOut* AgentFile::find_left_out(const MIGLayout& layout) const {
  auto found = std::ranges::find(left_out, &layout, &LeftOut::layout);
  return found == left_out.end() ? nullptr : &*found;
}

std::set<std::string> configs_dropped(std::string_view from, std::string_view to) {
  std::set<std::string> dropped;
  const Result<MigConfigs> old = parse_file(from);
  const Result<MigConfigs> now = parse_file(to);
  if (!old || !now) return dropped;
  for (const auto& [name, content] : *old)
    if (!now->contains(name)) dropped.insert(base_config(name));
  return dropped;
}

Result<AgentFile> compute_agent_file(const Snapshot& snapshot) {
  std::vector<Wanted> wanted;
  MigConfigs all;
  add_config(all, names::kAllDisabled, kAllDisabledContent);
  MigConfigs needed = all;
  for (const auto& layout : snapshot.cluster.mig_layouts()) {
    wanted.push_back({layout.get(), configs_of(snapshot, *layout)});
    all.insert(wanted.back().configs.begin(), wanted.back().configs.end());
  }
  add_kept_configs(snapshot, all);
  if (Result<std::string> text = render_file(all)) return AgentFile{*std::move(text), {}};

  add_kept_configs(snapshot, needed);
  Result<std::string> text = render_file(needed);
  if (!text) return std::move(text).error();
  return fill(snapshot, std::move(needed), text->size(), std::move(wanted));
}

}  // namespace berth
