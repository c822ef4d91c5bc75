// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/allocatable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

#include "apis/base/names.h"
#include "apis/kinds/core.h"

namespace berth {
namespace {

// Reads the labels `<prefix>.replicas`, `.sharing-strategy` and `.product`. Without renaming, the
// product ends with -SHARED.
std::optional<ResourceSharing> read_resource(const StringMap& labels, std::string_view prefix) {
  const Text strategy = labels.get(fmt::format("{}.sharing-strategy", prefix));
  const std::string_view replicas = labels.get(fmt::format("{}.replicas", prefix)).view();
  if (strategy != "time-slicing" && strategy != "mps") return std::nullopt;
  ResourceSharing sharing;
  const char* end = replicas.data() + replicas.size();
  if (std::from_chars(replicas.data(), end, sharing.replicas).ptr != end || sharing.replicas < 2 ||
      sharing.replicas > 1'000'000)
    return std::nullopt;
  sharing.renamed = !labels.get(fmt::format("{}.product", prefix)).view().ends_with("-SHARED");
  return sharing;
}

void add(std::map<std::string, std::int64_t>& resources, const std::string& name,
         std::int64_t devices, const Sharing& sharing) {
  const auto found = sharing.find(name);
  const ResourceSharing shared = found == sharing.end() ? ResourceSharing{} : found->second;
  resources[shared.renamed ? name + std::string(kSharedSuffix) : name] += devices * shared.replicas;
}

std::int64_t instances(const ProfileCounts& gpu) {
  std::int64_t sum = 0;
  for (const auto& [profile, count] : gpu) sum += count;
  return sum;
}

}  // namespace

Sharing read_sharing(const StringMap& node_labels) {
  Sharing sharing;
  if (auto gpu = read_resource(node_labels, kGpuResource))
    sharing[std::string(kGpuResource)] = *gpu;
  constexpr std::string_view kReplicas = ".replicas";
  for (const auto& [key, value] : node_labels) {
    const std::string_view label = key.view();
    if (!is_mig_resource(label) || !label.ends_with(kReplicas)) continue;
    const std::string_view resource = label.substr(0, label.size() - kReplicas.size());
    if (auto mig = read_resource(node_labels, resource)) sharing[std::string(resource)] = *mig;
  }
  return sharing;
}

std::string mig_resource_name(std::string_view profile) {
  std::string name = std::string(kMigResources) + std::string(profile);
  std::replace(name.begin() + static_cast<std::ptrdiff_t>(kMigResources.size()), name.end(), '+',
               '.');
  return name;
}

const Profile* profile_behind(const Product& product, std::string_view mig_resource) {
  const auto offers = [&](const std::string& name) {
    return mig_resource_name(name) == mig_resource;
  };
  for (const Profile& profile : product.profiles)
    if (offers(profile.name) || std::ranges::any_of(profile.aliases, offers)) return &profile;
  return nullptr;
}

std::map<std::string, std::int64_t> expected_allocatable(const NodeLayout& layout,
                                                         MigStrategy strategy,
                                                         const Sharing& sharing) {
  std::map<std::string, std::int64_t> resources;
  if (!check_strategy(layout, strategy)) return resources;
  for (const ProfileCounts& gpu : layout.per_gpu) {
    if (gpu.empty())
      add(resources, std::string(kGpuResource), 1, sharing);
    else if (strategy == MigStrategy::kSingle)
      add(resources, std::string(kGpuResource), instances(gpu), sharing);
    else
      for (const auto& [profile, count] : gpu)
        add(resources, mig_resource_name(profile), count, sharing);
  }
  return resources;
}

std::optional<std::string> allocatable_mismatch(const std::map<std::string, std::int64_t>& expected,
                                                const ResourceList& actual) {
  std::set<std::string> names;
  for (const auto& [name, count] : expected) names.insert(name);
  for (const auto& [name, quantity] : actual)
    if (is_gpu_resource(name.view())) names.insert(name.str());
  std::vector<std::string> differences;
  for (const std::string& name : names) {
    const auto promised = expected.find(name);
    const Quantity wanted = Quantity::whole(promised == expected.end() ? 0 : promised->second);
    const Quantity offered = actual.get(name);
    if (offered != wanted)
      differences.push_back(
          fmt::format("{} is {}, expected {}", name, offered.str(), wanted.str()));
  }
  if (differences.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(differences, "; "));
}

bool allocatable_within(const std::map<std::string, std::int64_t>& expected,
                        const ResourceList& actual) {
  return std::ranges::all_of(actual, [&](const auto& resource) {
    if (!is_gpu_resource(resource.first.view())) return true;
    const auto promised = expected.find(resource.first.str());
    return resource.second <= Quantity::whole(promised == expected.end() ? 0 : promised->second);
  });
}

}  // namespace berth
