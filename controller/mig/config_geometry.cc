// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/config_geometry.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "apis/kinds/mig_layout.h"

namespace berth {
namespace {

constexpr unsigned kNvidia = 0x10DE;  // PCI vendor id

// A subsystem id after a colon narrows a filter to some GPUs of the product.
bool takes(const MigConfigEntry& entry, const Product& product) {
  return takes_any_product(entry) ||
         std::ranges::any_of(entry.device_filter, [&](std::string_view filter) {
           return product_of_filter(filter.substr(0, filter.find(':'))) == &product;
         });
}

// One GPU under a config. Without a profile, MIG is off.
struct GpuConfig {
  bool named = false;
  bool empty_mig = false;  // MIG is on without an instance, which no layout asks for
  ProfileCounts profiles;
};

GpuConfig read_gpu(const MigConfigEntry& entry) {
  GpuConfig gpu{.named = true, .empty_mig = false, .profiles = {}};
  for (const auto& [profile, count] : entry.mig_devices)
    if (entry.mig_enabled && count > 0) gpu.profiles.emplace(profile, count);
  gpu.empty_mig = entry.mig_enabled && gpu.profiles.empty();
  return gpu;
}

// Replaces profile names by those that berth uses, because drivers differ in a few.
ProfileCounts by_own_names(const ProfileCounts& counts, const Product& product) {
  ProfileCounts out;
  for (const auto& [name, count] : counts) {
    const Profile* profile = product.find_profile(name);
    out[profile != nullptr ? profile->name : name] += count;
  }
  return out;
}

}  // namespace

std::optional<std::vector<std::int64_t>> gpus_of(const MigConfigEntry& entry) {
  if (entry.devices == "all") return std::nullopt;
  std::vector<std::int64_t> gpus;
  const char* end = entry.devices.data() + entry.devices.size();
  for (const char* at = entry.devices.data();
       at != end && gpus.size() <= limits::kMaxGpusPerEntry;) {
    std::int64_t gpu = 0;
    const auto [next, error] = std::from_chars(at, end, gpu);
    if (error == std::errc() && std::ranges::find(gpus, gpu) == gpus.end()) gpus.push_back(gpu);
    at = error == std::errc() ? next : at + 1;
  }
  return gpus;
}

const Product* product_of_filter(std::string_view filter) {
  unsigned id = 0;
  const std::size_t prefix = filter.starts_with("0x") || filter.starts_with("0X") ? 2 : 0;
  const char* end = filter.data() + filter.size();
  const auto [last, error] = std::from_chars(filter.data() + prefix, end, id, 16);
  if (error != std::errc() || last != end || (id & 0xffffu) != kNvidia) return nullptr;
  return find_product_by_device_id(static_cast<std::uint16_t>(id >> 16));
}

bool takes_any_product(const MigConfigEntry& entry) {
  return entry.device_filter.empty() ||
         std::ranges::find(entry.device_filter, "") != entry.device_filter.end();
}

bool config_gives(const std::vector<MigConfigEntry>& entries, const Product& product,
                  const NodeLayout& layout, MigStrategy strategy) {
  std::vector<GpuConfig> gpus(layout.per_gpu.size());
  for (const MigConfigEntry& entry : entries) {
    if (!takes(entry, product)) continue;
    const GpuConfig config = read_gpu(entry);
    const auto named = gpus_of(entry);
    if (!named) std::ranges::fill(gpus, config);
    if (!named) continue;
    for (const std::int64_t gpu : *named)
      if (gpu >= 0 && static_cast<std::size_t>(gpu) < gpus.size())
        gpus[static_cast<std::size_t>(gpu)] = config;
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const ProfileCounts& wanted = layout.per_gpu[i];
    if (!gpus[i].named && !(wanted.empty() && strategy == MigStrategy::kMixed)) return false;
    if (gpus[i].empty_mig) return false;
    if (gpus[i].named && by_own_names(gpus[i].profiles, product) != by_own_names(wanted, product))
      return false;
  }
  return true;
}

}  // namespace berth
