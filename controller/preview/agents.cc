// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/agents.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/names.h"
#include "controller/fleet/allocatable.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"
#include "controller/mig/config_label.h"
#include "controller/mig/target.h"
#include "controller/policy/plugin_config.h"

namespace berth {
namespace {

constexpr std::string_view kMark = "-SHARED";  // suffix of a product if sharing does not rename

using Offer = std::map<std::string, std::int64_t>;

// The node's resources with its config, or nullopt if no layout has the config.
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

// The unshared devices behind a node's resources.
Offer unshared(const Node& node) {
  const Sharing sharing = read_sharing(node.meta.labels);
  Offer devices;
  for (const auto& [resource, count] : gpus_in(node.allocatable)) {
    const std::string name(unshared_resource(resource.view()));
    const auto shared = sharing.find(name);
    devices[name] +=
        count.rounded_up() / (shared == sharing.end() ? std::int64_t{1} : shared->second.replicas);
  }
  return devices;
}

// The labels of GPU feature discovery for a shared resource. Without renaming it marks the product.
void label_sharing(const std::string& resource, const SharingSpec& sharing, StringMap& labels) {
  const bool shared = sharing.strategy != SharingStrategy::kNone;
  const bool mps = sharing.strategy == SharingStrategy::kMPS;
  labels.set(Text(resource + ".replicas"),
             Text(shared ? std::to_string(sharing.replicas) : std::string("1")));
  labels.set(Text(resource + ".sharing-strategy"), !shared ? "none" : mps ? "mps" : "time-slicing");
  const std::string key = resource + ".product";
  std::string product = labels.get(key).str();
  if (product.ends_with(kMark)) product.erase(product.size() - kMark.size());
  if (shared && !sharing.rename_by_default) product += kMark;
  if (!product.empty()) labels.set(Text(key), Text(product));
}

// The device plugin restarts with the sharing of the key's pool. With `default`, or without a key,
// it shares nothing. Other keys are unknown to berth.
void share(const Snapshot& snapshot, Node& node) {
  const std::string_view key = label_of(node, names::kDevicePluginConfig);
  const GPUClusterPolicy* policy = find_policy(snapshot.cluster);
  const PoolSpec* pool = nullptr;
  if (policy != nullptr)
    for (const PoolSpec& candidate : policy->spec.pools)
      if (auto config = render_plugin_config(candidate); config && config->key == key)
        pool = &candidate;
  if (pool == nullptr && !key.empty() && key != kDefaultPluginConfig) return;

  Offer devices = unshared(node);
  const SharingSpec sharing = pool != nullptr ? pool->sharing : SharingSpec();
  if (pool != nullptr && pool->mig_strategy)
    node.meta.labels.set(names::kMigStrategy, to_string(*pool->mig_strategy));
  std::vector<std::string> resources = sharing.resources;
  if (resources.empty()) resources = {std::string(kGpuResource)};
  for (const auto& [resource, count] : devices) {
    const bool meant = std::ranges::find(resources, resource) != resources.end();
    label_sharing(resource, meant ? sharing : SharingSpec(), node.meta.labels);
  }
  if (!devices.contains(std::string(kGpuResource))) node.meta.labels.set(names::kGpuReplicas, "0");
  if (pool != nullptr && pool->mig_strategy)
    if (auto cut = offer_of(snapshot, node, label_of(node, names::kMigConfig))) {
      replace_gpus(node.capacity, *cut);
      return replace_gpus(node.allocatable, *cut);
    }
  Offer offer;
  const Sharing shown = read_sharing(node.meta.labels);
  for (const auto& [resource, count] : devices) {
    const auto shared = shown.find(resource);
    const ResourceSharing by = shared == shown.end() ? ResourceSharing() : shared->second;
    offer[by.renamed ? shared_name(resource) : resource] = count * by.replicas;
  }
  replace_gpus(node.capacity, offer);
  replace_gpus(node.allocatable, offer);
}

}  // namespace

Node answer_of_agents(const Snapshot& snapshot, const Node& before, Node node) {
  if (label_of(before, names::kDevicePluginConfig) != label_of(node, names::kDevicePluginConfig))
    share(snapshot, node);
  const Text config = node.meta.labels.get(names::kMigConfig);
  // mig-manager runs if the value changes; berth removes the state in the same patch.
  if (config.empty() || node.meta.labels.contains(names::kMigConfigState)) return node;
  std::optional<Offer> offer = offer_of(snapshot, node, config);
  node.meta.labels.set(names::kMigConfigState, offer ? "success" : "failed");
  if (!offer) return node;
  replace_gpus(node.capacity, *offer);
  replace_gpus(node.allocatable, *offer);
  return node;
}

}  // namespace berth
