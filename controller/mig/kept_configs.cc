// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/kept_configs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/fleet/geometry.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/agent_file.h"
#include "controller/mig/config_geometry.h"
#include "controller/mig/named_configs.h"
#include "controller/mig/preflight.h"

namespace berth {
namespace {

using Entries = std::vector<MigConfigEntry>;

std::string render(const Entries& entries) {
  std::string text;
  for (const MigConfigEntry& entry : entries) text += render_entry(entry);
  return text;
}

const Product* product_of(const Node& node) {
  const std::optional<Inventory> inventory = inventory_of(node);
  return inventory ? find_product(inventory->product, inventory->memory_mib) : nullptr;
}

// Returns the entries that apply to the product, limited to it.
Entries narrowed(const Entries& entries, const Product& product) {
  std::vector<std::string> ids;
  for (const std::uint16_t id : product.device_ids) ids.push_back(fmt::format("0x{:04X}10DE", id));
  Entries out;
  for (MigConfigEntry entry : entries) {
    const bool any = takes_any_product(entry);
    std::erase_if(entry.device_filter,
                  [&](const std::string& filter) { return product_of_filter(filter) != &product; });
    if (any) entry.device_filter = ids;
    if (!entry.device_filter.empty()) out.push_back(std::move(entry));
  }
  return out;
}

// The entries of one config, by product of the nodes that name it.
class Meanings {
 public:
  void add(const Node& node, const Entries& entries) {
    meanings_.try_emplace(product_of(node), entries);
  }
  std::string str() const {
    const std::string first = render(meanings_.begin()->second);
    const bool same = std::ranges::all_of(
        meanings_, [&](const auto& meaning) { return render(meaning.second) == first; });
    if (same) return first;
    std::map<std::string_view, std::string> by_model;
    for (const auto& [product, entries] : meanings_)
      if (product != nullptr) by_model[product->model] = render(narrowed(entries, *product));
    std::string text;
    for (const auto& [model, entries] : by_model) text += entries;
    return text.empty() ? first : text;
  }

 private:
  std::map<const Product*, Entries> meanings_;  // by product, the entries for its first node
};

std::map<std::string, Meanings> read_meanings(const Snapshot& snapshot,
                                              const std::set<std::string>& names) {
  std::map<std::string, Meanings> out;
  const NamedConfigs configs(snapshot);
  for (const auto& node : snapshot.cluster.nodes())
    for (const std::string& name : configs_named_by(snapshot.cluster, *node))
      if (names.contains(name))
        if (const Entries* entries = configs.find(*node, name)) out[name].add(*node, *entries);
  return out;
}

MigConfigs read_file(const ConfigMap* config_map) {
  const std::string* text = agent_file_of(config_map);
  if (text == nullptr) return {};
  Result<MigConfigs> parsed = parse_file(*text);
  return parsed ? *std::move(parsed) : MigConfigs();
}

// Looks in files that no mig-manager reads too: an administrator may put configs there for berth.
void add_from_any_file(const Snapshot& snapshot, std::set<std::string> names, MigConfigs& configs) {
  for (const auto& config_map : snapshot.cluster.config_maps()) {
    if (names.empty()) return;
    if (config_map->meta.namespace_ != std::string_view(snapshot.settings.agents_namespace))
      continue;
    const MigConfigs file = read_file(config_map.get());
    std::erase_if(names, [&](const std::string& name) {
      const auto found = file.find(name);
      if (found != file.end()) add_config(configs, name, found->second);
      return found != file.end();
    });
  }
}

}  // namespace

void add_kept_configs(const Snapshot& snapshot, MigConfigs& configs) {
  std::set<std::string> missing;
  for (const std::string& name : configs_named_by_nodes(snapshot))
    if (!configs.contains(name)) missing.insert(name);
  const auto add_found = [&](const auto& found, const auto& text_of) {
    std::erase_if(missing, [&](const std::string& name) {
      const auto entry = found.find(name);
      if (entry != found.end()) add_config(configs, name, text_of(entry->second));
      return entry != found.end();
    });
  };
  if (missing.empty()) return;
  add_found(read_file(find_agent_config(snapshot)), [](const std::string& text) { return text; });
  if (missing.empty()) return;
  add_found(read_meanings(snapshot, missing), [](const Meanings& m) { return m.str(); });
  if (!missing.empty()) add_from_any_file(snapshot, std::move(missing), configs);
}

}  // namespace berth
