// SPDX-License-Identifier: Apache-2.0
// Outline: the instances that each pool needs and its candidate nodes (Ground); packs its GPUs;
// fills whole nodes with them; groups nodes with equal partitions into one layout.
#include "controller/advise/proposal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "controller/advise/packing.h"
#include "controller/cost/fleet_cost.h"
#include "controller/fleet/allocatable.h"
#include "controller/fleet/geometry.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"
#include "controller/mig/overlap.h"

namespace berth::advise {
namespace {

struct Candidate {
  std::string name;
  std::size_t gpus = 0;
  std::int64_t stay = 0;  // GPU pods without an advised profile
};

// The nodes of one product in one pool.
struct Ground {
  std::string pool;
  std::string label;  // nvidia.com/gpu.product
  const Product* product = nullptr;
  ProfileCounts wanted;
  std::vector<Candidate> candidates;
};
using Grounds = std::map<std::pair<std::string, std::string>, Ground>;

bool is_cut(const Node& node) {
  for (const auto& [name, quantity] : gpus_in(node.allocatable))
    if (is_mig_resource(name.view())) return true;
  return false;
}

// The advised profile of each owner: "3g.40gb".
std::map<std::string, std::string> profiles_of(const std::vector<OwnerAdvice>& advices) {
  std::map<std::string, std::string> profiles;
  for (const OwnerAdvice& advice : advices)
    if (advice.verdict == Verdict::kProfile) profiles[advice.owner] = advice.profile;
  return profiles;
}

bool is_taken(const std::string& node, const std::vector<ProposedPool>& shared) {
  return std::ranges::any_of(shared, [&](const ProposedPool& pool) {
    return std::ranges::find(pool.nodes, node) != pool.nodes.end();
  });
}

Grounds survey(const Snapshot& snapshot, const GPUClusterPolicy& policy,
               const std::map<std::string, std::string>& profiles,
               const std::vector<ProposedPool>& shared) {
  Grounds grounds;
  const LayoutOwners layouts(snapshot.cluster);
  for (const auto& node : snapshot.cluster.nodes()) {
    const PoolSpec* pool = pool_of(policy, *node);
    const std::optional<Inventory> inventory = inventory_of(*node);
    if (pool == nullptr || !inventory) continue;
    Ground& ground = grounds[{pool->name, inventory->product}];
    ground.pool = pool->name;
    ground.label = inventory->product;
    ground.product = find_product(inventory->product, inventory->memory_mib);
    Candidate candidate{.name = node->meta.name,
                        .gpus = static_cast<std::size_t>(inventory->count)};
    for (const Occupant& occupant : snapshot.cluster.occupants_of(node->meta.name)) {
      if (!occupant.uses_gpu) continue;
      const auto found = profiles.find(owner_key(*occupant.pod));
      if (found == profiles.end())
        ++candidate.stay;
      else
        ++ground.wanted[found->second];
    }
    if (!is_cut(*node) && layouts.owner_of(*node) == nullptr && !is_taken(candidate.name, shared))
      ground.candidates.push_back(std::move(candidate));
  }
  return grounds;
}

// GPUs with equal partitions share one entry; so do whole GPUs.
std::vector<DeviceLayout> devices_of(const std::vector<ProfileCounts>& gpus) {
  std::vector<DeviceLayout> devices;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const auto same = std::ranges::find(devices, gpus[i], &DeviceLayout::profiles);
    DeviceLayout& entry = same != devices.end() ? *same : devices.emplace_back();
    if (!entry.gpus) entry.gpus.emplace();
    entry.gpus->push_back(static_cast<std::int32_t>(i));
    entry.profiles = gpus[i];
  }
  if (devices.size() == 1) devices.front().gpus.reset();
  return devices;
}

// Object names can't contain "NVIDIA-A100-SXM4-80GB", but "a100-80gb".
std::string name_of(const Ground& ground, std::size_t number) {
  std::string model = ground.product->model;
  for (char& c : model)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const std::string tail = fmt::format("-{}-{}", model, number);
  std::string name = "advised-" + ground.pool;
  name.resize(std::min(name.size(), limits::kMaxLayoutName - tail.size()));
  return name + tail;
}

bool may_join(const ProposedLayout& layout, const std::vector<DeviceLayout>& devices) {
  return layout.devices == devices &&
         layout.nodes.size() < static_cast<std::size_t>(limits::kMaxSelectorValues);
}

void tell_rest(const Ground& ground, const std::vector<ProfileCounts>& rest, Proposal& out) {
  ProfileCounts without;
  for (const ProfileCounts& gpu : rest)
    for (const auto& [profile, count] : gpu)
      if (ground.wanted.contains(profile)) without[profile] += count;
  for (const auto& [profile, count] : without)
    out.without_room.push_back(fmt::format("{}: {} of {}", ground.pool,
                                           std::min(count, ground.wanted.at(profile)),
                                           mig_resource_name(profile)));
}

void propose(Ground ground, Proposal& out) {
  std::vector<ProfileCounts> gpus = pack_instances(*ground.product, ground.wanted);
  std::ranges::sort(ground.candidates, {}, [](const Candidate& candidate) {
    return std::tuple(candidate.stay, std::string_view(candidate.name));
  });
  const std::size_t first = out.layouts.size();
  auto next = gpus.begin();
  for (const Candidate& candidate : ground.candidates) {
    if (next == gpus.end()) break;
    std::vector<ProfileCounts> node(candidate.gpus);
    for (ProfileCounts& gpu : node)
      if (next != gpus.end()) gpu = std::move(*next++);
    const std::vector<DeviceLayout> devices = devices_of(node);
    if (out.layouts.size() == first || !may_join(out.layouts.back(), devices))
      out.layouts.push_back({.name = name_of(ground, out.layouts.size() - first + 1),
                             .pool = ground.pool,
                             .product = ground.label,
                             .nodes = {},
                             .devices = devices});
    out.layouts.back().nodes.push_back(candidate.name);
  }
  tell_rest(ground, {next, gpus.end()}, out);
}

}  // namespace

Proposal propose_layouts(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                         const std::vector<OwnerAdvice>& advices,
                         std::vector<ProposedPool> shared) {
  Proposal out;
  for (auto& [key, ground] : survey(snapshot, policy, profiles_of(advices), shared))
    if (ground.product != nullptr) propose(std::move(ground), out);
  for (const PoolSpec& pool : policy.spec.pools)
    if (pool.mig_strategy != PluginMigStrategy::kMixed &&
        std::ranges::any_of(out.layouts,
                            [&](const ProposedLayout& layout) { return layout.pool == pool.name; }))
      out.pools.push_back(pool.name);
  out.shared = std::move(shared);
  return out;
}

}  // namespace berth::advise
