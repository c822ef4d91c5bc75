// SPDX-License-Identifier: Apache-2.0
#include "controller/advise/memory_on_node.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/quantity.h"
#include "controller/fleet/allocatable.h"

namespace berth::advise {
namespace {

// One device of a resource.
struct Device {
  std::int64_t usable = 0;
  bool spreads = false;  // a container may use several as one
  bool shared = false;
};

std::optional<Device> unshared_device(const Node& node, std::string_view resource) {
  const std::optional<Inventory> has = inventory_of(node);
  if (!has) return std::nullopt;
  const std::string_view instance = single_profile(node);
  if (resource == kGpuResource && instance.empty()) {
    const auto usable = usable_of_whole(*has);
    if (!usable) return std::nullopt;
    return Device{.usable = *usable, .spreads = true};
  }
  const Product* product = find_product(has->product, has->memory_mib);
  if (product == nullptr) return std::nullopt;
  const Profile* profile = profile_behind(
      *product, resource == kGpuResource ? mig_resource_name(instance) : std::string(resource));
  if (profile == nullptr) return std::nullopt;
  return Device{.usable = usable_bytes(*product, profile->memory_units)};
}

std::optional<Device> device_of(const Node& node, std::string_view resource) {
  const bool renamed = is_shared_resource(resource);
  resource = unshared_resource(resource);
  std::optional<Device> device = unshared_device(node, resource);
  if (!device) return std::nullopt;
  const Sharing sharing = read_sharing(node.meta.labels);
  const auto shared = sharing.find(std::string(resource));
  if (!renamed && (shared == sharing.end() || shared->second.renamed)) return device;
  device->shared = true;
  device->spreads = false;
  if (shared != sharing.end() &&
      label_of(node, std::string(resource) + ".sharing-strategy") == "mps")
    device->usable /= shared->second.replicas;
  return device;
}

}  // namespace

std::optional<std::int64_t> required_memory(std::string_view annotation) {
  const Result<Quantity> size = Quantity::parse(annotation);
  if (!size || *size <= Quantity()) return std::nullopt;
  return size->rounded_up();
}

std::optional<std::int64_t> usable_of_whole(const Inventory& gpus) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  constexpr std::int64_t kMostMiB = std::int64_t{1} << 24;  // a label may have any value
  if (const Product* product = find_product(gpus.product, gpus.memory_mib))
    return usable_bytes(*product, product->memory_units);
  if (!gpus.memory_mib || *gpus.memory_mib > kMostMiB) return std::nullopt;
  return *gpus.memory_mib * kMiB / 10 * 9;
}

std::optional<std::int64_t> usable_on(const Node& node, std::string_view resource,
                                      std::int64_t count) {
  const std::optional<Device> device = device_of(node, resource);
  if (!device) return std::nullopt;
  // No node has more GPUs; a user's count must not overflow.
  constexpr std::int64_t kMostOfANode = 64;
  return device->usable * (device->spreads ? std::clamp<std::int64_t>(count, 0, kMostOfANode) : 1);
}

Share fewest_on(const Node& node, std::string_view resource, std::int64_t bytes) {
  const std::optional<Device> device = device_of(node, resource);
  if (!device || device->shared) return {};
  const std::optional<Inventory> has = inventory_of(node);
  const int most = device->spreads ? std::min(has->count, kMaxGpus) : 1;
  for (int count = 1; count <= most; count *= 2)
    if (device->usable * count >= bytes)
      return {std::string(resource), count, device->usable * count};
  return {};
}

const Share& smaller(const Share& a, const Share& b) {
  if (a.count == 0 || b.count == 0) return a.count == 0 ? b : a;
  return b.usable < a.usable ? b : a;
}

std::string ask_instead(const Share& share) {
  if (share.count == 0) return "no node that its namespace may use has so much";
  return fmt::format("ask for {} {}", share.count, share.resource);
}

}  // namespace berth::advise
