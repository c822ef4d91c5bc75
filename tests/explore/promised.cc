// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/promised.h"

#include <algorithm>
#include <set>

namespace berth::explore {
namespace {

std::string mig_resource(std::string profile) {
  std::ranges::replace(profile, '+', '.');
  return "nvidia.com/mig-" + profile;
}

}  // namespace

std::map<std::string, std::int64_t> promised(const MIGLayoutSpec& spec, std::int64_t gpus) {
  std::map<std::string, std::int64_t> devices;
  std::set<std::int32_t> named;
  for (const DeviceLayout& entry : spec.devices)
    if (entry.gpus) named.insert(entry.gpus->begin(), entry.gpus->end());
  for (const DeviceLayout& entry : spec.devices) {
    const std::int64_t count = entry.gpus ? static_cast<std::int64_t>(entry.gpus->size())
                                          : gpus - static_cast<std::int64_t>(named.size());
    if (entry.profiles.empty()) devices["nvidia.com/gpu"] += count;
    for (const auto& [profile, each] : entry.profiles)
      devices[mig_resource(profile)] += count * each;
  }
  std::erase_if(devices, [](const auto& entry) { return entry.second == 0; });
  return devices;
}

}  // namespace berth::explore
