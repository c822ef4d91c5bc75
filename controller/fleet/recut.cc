// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/recut.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "controller/fleet/allocatable.h"
#include "controller/fleet/node_facts.h"

namespace berth {
namespace {

// Returns how many instances of the profile fit side by side into the units from `begin` to before
// `end`.
int count_within(const Profile& profile, int begin, int end) {
  std::vector<int> starts = profile.starts;
  std::ranges::sort(starts);
  int count = 0;
  for (const int start : starts) {
    if (start < begin || start + profile.memory_units > end) continue;
    ++count;
    begin = start + profile.memory_units;
  }
  return std::min(count, profile.max_count);
}

// Returns how many instances fit, wherever the old instance is on its GPU.
int count_instead(const Profile& profile, const Profile& instance) {
  std::optional<int> least;
  for (const int start : instance.starts) {
    const int count = count_within(profile, start, start + instance.memory_units);
    least = std::min(least.value_or(count), count);
  }
  int count = least.value_or(0);
  const auto bound = [&](int has, int each) {
    if (each > 0) count = std::min(count, has / each);
  };
  bound(instance.compute_slices, profile.compute_slices);
  for (const auto engine : {&Engines::nvdec, &Engines::nvenc, &Engines::jpeg, &Engines::ofa})
    bound(instance.engines.*engine, profile.engines.*engine);
  return count;
}

bool is_smaller(const Profile& profile, const Profile& instance) {
  return profile.compute_slices < instance.compute_slices ||
         profile.memory_units < instance.memory_units;
}

}  // namespace

std::vector<Recut> recuts_of(const Product& product, const Profile& instance) {
  std::vector<Recut> found;
  for (const Profile& profile : product.profiles) {
    if (!profile.attributes.empty() || !is_smaller(profile, instance)) continue;
    const int count = count_instead(profile, instance);
    if (count > 0) found.push_back({&profile, count});
  }
  return found;
}

std::string describe_recuts(const Node& node, const Pod& pod) {
  const std::optional<Inventory> inventory = inventory_of(node);
  const Product* product =
      inventory ? find_product(inventory->product, inventory->memory_mib) : nullptr;
  if (product == nullptr) return {};
  std::string told;
  for (const auto& [resource, quantity] : pod.shape->requests) {
    if (quantity.is_zero() || !is_mig_resource(resource.view())) continue;
    const Profile* instance = product->find_profile(resource.view().substr(kMigResources.size()));
    if (instance == nullptr) continue;
    std::string cuts;
    for (const Recut& cut : recuts_of(*product, *instance))
      cuts += fmt::format("{}{} of {}", cuts.empty() ? "" : " or ", cut.count,
                          mig_resource_name(cut.profile->name));
    if (!cuts.empty())
      told += fmt::format("{}an instance of {} could be {}", told.empty() ? "" : "; ",
                          resource.view(), cuts);
  }
  return told;
}

}  // namespace berth
