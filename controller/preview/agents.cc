// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/agents.h"

#include <map>
#include <optional>
#include <string>

#include "apis/names.h"
#include "controller/mig/allocatable.h"
#include "controller/mig/node_facts.h"
#include "controller/mig/target.h"

namespace berth {
namespace {

using Offer = std::map<std::string, std::int64_t>;

// What the node offers under its config, or nothing if no layout stands behind the config's name.
std::optional<Offer> offer_of(const Snapshot& snapshot, const Node& node, std::string_view config) {
  const std::optional<Inventory> inventory = inventory_of(node);
  if (base_config(config) == names::kAllDisabled && inventory)
    return expected_without_mig(node, *inventory);
  for (const auto& layout : snapshot.cluster.mig_layouts()) {
    TargetResolver resolver(snapshot.cluster, *layout);
    const Target& target = resolver.resolve(node);
    if (target.ok() && names_config(config, target.config))
      return expected_allocatable(target.layout, target.strategy, read_sharing(node.meta.labels));
  }
  return std::nullopt;
}

void replace_gpus(ResourceList& resources, const Offer& offer) {
  ResourceList next;
  for (const auto& [name, count] : resources)
    if (!is_gpu_resource(name)) next.set(name, count);
  for (const auto& [name, count] : offer) next.set(name, Quantity::whole(count));
  resources = std::move(next);
}

}  // namespace

Node answer_of_agents(const Snapshot& snapshot, Node node) {
  const Text config = node.meta.labels.get(names::kMigConfig);
  // mig-manager runs when the value changes; berth takes the state away in the same patch.
  if (config.empty() || node.meta.labels.contains(names::kMigConfigState)) return node;
  std::optional<Offer> offer = offer_of(snapshot, node, config);
  node.meta.labels.set(names::kMigConfigState, offer ? "success" : "failed");
  if (!offer) return node;
  replace_gpus(node.capacity, *offer);
  replace_gpus(node.allocatable, *offer);
  return node;
}

}  // namespace berth
