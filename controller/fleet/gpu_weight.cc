// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/gpu_weight.h"

#include <algorithm>
#include <string>

#include "apis/base/names.h"
#include "controller/fleet/allocatable.h"
#include "controller/fleet/node_facts.h"

namespace berth {
namespace {

// A node that berth never saw with MIG off has a product in its label, but no inventory.
const Product* product_of(const Node& node) {
  if (const auto inventory = inventory_of(node))
    return find_product(inventory->product, inventory->memory_mib);
  return find_product(label_of(node, names::kGpuProduct));
}

template <class Known, class Compute>
std::optional<std::int64_t> once(Known& known, const Text& name, Compute&& compute) {
  const auto found = std::ranges::find(known, name, &Known::value_type::first);
  if (found != known.end()) return found->second;
  return known.emplace_back(name, compute()).second;
}

}  // namespace

std::int64_t profile_weight(const Product& product, const Profile& profile) {
  return kWholeGpu * profile.memory_units / product.memory_units;
}

std::optional<std::int64_t> instance_weight(const Node& node, std::string_view profile) {
  const Product* product = product_of(node);
  if (product == nullptr) return std::nullopt;
  const Profile* found = profile_behind(*product, mig_resource_name(profile));
  if (found == nullptr) return std::nullopt;
  return profile_weight(*product, *found);
}

std::optional<std::int64_t> gpu_weight(const Node& node, std::string_view resource) {
  if (!is_gpu_resource(resource)) return std::nullopt;
  const std::string device(unshared_resource(resource));
  std::optional<std::int64_t> weight = kWholeGpu;
  if (is_mig_resource(device))
    weight = instance_weight(node, std::string_view(device).substr(kMigResources.size()));
  else if (const std::string_view profile = single_profile(node); !profile.empty())
    weight = instance_weight(node, profile);

  const Sharing sharing = read_sharing(node.meta.labels);
  const auto shared = sharing.find(device);
  if (weight && shared != sharing.end()) *weight /= shared->second.replicas;
  return weight;
}

std::optional<std::int64_t> GpuWeights::of(const Text& resource) {
  return once(resources_, resource, [&] { return gpu_weight(node_, resource.view()); });
}

std::optional<std::int64_t> GpuWeights::of_instance(const Text& profile) {
  return once(instances_, profile, [&] { return instance_weight(node_, profile.view()); });
}

}  // namespace berth
