// SPDX-License-Identifier: Apache-2.0
#include "controller/advise/packing.h"

#include <algorithm>
#include <utility>

#include "controller/fleet/placement.h"

namespace berth::advise {
namespace {

// Memory units of the layout's instances that are wanted.
std::int64_t units_wanted(const Product& product, const ProfileCounts& layout,
                          const ProfileCounts& wanted) {
  std::int64_t units = 0;
  for (const auto& [name, count] : layout)
    if (const auto found = wanted.find(name); found != wanted.end())
      units += std::min(count, found->second) * product.find_profile(name)->memory_units;
  return units;
}

void take(const ProfileCounts& layout, ProfileCounts& wanted) {
  for (const auto& [name, count] : layout)
    if (const auto found = wanted.find(name); found != wanted.end())
      found->second -= std::min(count, found->second);
}

}  // namespace

std::vector<ProfileCounts> pack_instances(const Product& product, const ProfileCounts& wanted) {
  ProfileCounts left;
  for (const auto& [name, count] : wanted)
    if (const Profile* profile = product.find_profile(name)) left[profile->name] += count;
  std::vector<ProfileCounts> layouts = valid_layouts(product);
  std::vector<ProfileCounts> gpus;
  for (;;) {
    const auto best = std::ranges::max_element(layouts, {}, [&](const ProfileCounts& layout) {
      return units_wanted(product, layout, left);
    });
    if (best == layouts.end() || units_wanted(product, *best, left) == 0) return gpus;
    take(*best, left);
    gpus.push_back(*best);
  }
}

}  // namespace berth::advise
