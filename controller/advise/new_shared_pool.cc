// SPDX-License-Identifier: Apache-2.0
// Outline: the owners with GPUs in each pool and product (Ground); the owners that need only a
// part, by number of parts; the nodes with the fewest other pods to move.
#include "controller/advise/new_shared_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "apis/base/names.h"
#include "apis/kinds/mig_layout.h"
#include "controller/advise/memory_on_node.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"
#include "controller/mig/overlap.h"

namespace berth::advise {
namespace {

// From the most on. Means don't support advice for more than eight parts on one GPU.
constexpr std::int32_t kParts[] = {8, 4, 2};

struct SharedNode {
  std::string name;
  std::int64_t gpus = 0;
  std::map<std::string, std::int64_t> pods;  // with GPUs, by owner
};

// The nodes of one product in one pool.
struct SharedGround {
  const PoolSpec* pool = nullptr;
  std::optional<std::int64_t> usable;        // nine tenths of one GPU's memory, in bytes
  std::map<std::string, std::int64_t> pods;  // with GPUs, by owner
  std::vector<SharedNode> nodes;             // that the new pool may take
};

bool offers_instances(const Node& node) {
  for (const auto& [name, quantity] : gpus_in(node.allocatable))
    if (is_mig_resource(name.view())) return true;
  return false;
}

std::vector<SharedGround> grounds_of(const Snapshot& snapshot, const GPUClusterPolicy& policy) {
  std::map<std::pair<std::string, std::string>, SharedGround> grounds;
  const LayoutOwners layouts(snapshot.cluster);
  for (const auto& node : snapshot.cluster.nodes()) {
    const PoolSpec* pool = pool_of(policy, *node);
    const std::optional<Inventory> inventory = inventory_of(*node);
    if (pool == nullptr || !inventory || pool->sharing.strategy != SharingStrategy::kNone) continue;
    SharedGround& ground = grounds[{pool->name, inventory->product}];
    ground.pool = pool;
    ground.usable = usable_of_whole(*inventory);
    SharedNode taken{.name = node->meta.name, .gpus = inventory->count, .pods = {}};
    for (const Occupant& occupant : snapshot.cluster.occupants_of(node->meta.name))
      if (occupant.uses_gpu) ++taken.pods[owner_key(*occupant.pod)];
    for (const auto& [owner, pods] : taken.pods) ground.pods[owner] += pods;
    // The new pool selects nodes by this label.
    if (label_of(*node, names::kHostnameLabel) == node->meta.name && !offers_instances(*node) &&
        layouts.owner_of(*node) == nullptr)
      ground.nodes.push_back(std::move(taken));
  }
  std::vector<SharedGround> out;
  for (auto& [key, ground] : grounds) out.push_back(std::move(ground));
  return out;
}

cost::Micros saved_by(const OwnerAdvice& advice, std::int32_t parts) {
  return advice.costs - cost::share_of(advice.costs, 1, parts);
}

bool does_with(const OwnerAdvice& advice, const SharedGround& ground, std::int32_t parts) {
  const bool undecided = advice.verdict == Verdict::kKeep || advice.verdict == Verdict::kProfile;
  if (!undecided || advice.each != 1 || advice.holds != kGpuResource || !advice.used) return false;
  const auto pods = ground.pods.find(advice.owner);
  if (pods == ground.pods.end() || pods->second != advice.pods) return false;
  if (room_for(advice) * parts > 100 || saved_by(advice, parts) <= advice.month) return false;
  return !advice.memory_mib || !ground.usable ||
         *advice.memory_mib <= (*ground.usable / parts) >> 20;
}

// Whether one of MPS' equal parts limits neither the owner's peak utilization nor its memory.
bool stays_within(const OwnerAdvice& advice, const SharedGround& ground, std::int32_t parts) {
  return advice.memory_mib && ground.usable && advice.peak && *advice.peak * parts <= 100;
}

using Members = std::vector<OwnerAdvice*>;

// GPU pods on the node whose owners are not members.
std::int64_t others_on(const SharedNode& node, const std::set<std::string>& members) {
  std::int64_t others = 0;
  for (const auto& [owner, pods] : node.pods)
    if (!members.contains(owner)) others += pods;
  return others;
}

// nullopt: the members would take at least as many GPUs as they hold, or the nodes don't suffice.
std::optional<ProposedPool> pool_for(const SharedGround& ground, const Members& members,
                                     std::int32_t parts) {
  ProposedPool out{.name = {}, .from = ground.pool->name, .nodes = {}, .replicas = parts};
  std::int64_t pods = 0;
  bool within = true;
  for (const OwnerAdvice* member : members) {
    pods += member->pods;
    within = within && stays_within(*member, ground, parts);
    out.owners.push_back(member->owner);
  }
  std::ranges::sort(out.owners);
  const std::set<std::string> names(out.owners.begin(), out.owners.end());
  std::vector<std::tuple<std::int64_t, std::string, std::int64_t>> nodes;
  for (const SharedNode& node : ground.nodes)
    nodes.emplace_back(others_on(node, names), node.name, node.gpus);
  std::ranges::sort(nodes);
  for (const auto& [others, name, gpus] : nodes) {
    if (out.gpus * parts >= pods) break;
    out.nodes.push_back(name);
    out.gpus += gpus;
    out.others += others;
  }
  if (out.gpus * parts < pods || out.gpus >= pods ||
      out.nodes.size() > static_cast<std::size_t>(limits::kMaxSelectorValues))
    return std::nullopt;
  if (within) out.strategy = SharingStrategy::kMPS;
  return out;
}

std::string pool_name(const std::string& from, std::int32_t parts) {
  const std::string tail = fmt::format("-shared-by-{}", parts);
  std::string name = from;
  name.resize(std::min(name.size(), limits::kMaxPoolName - tail.size()));
  return name + tail;
}

void advise_part(const ProposedPool& pool, const SharedGround& ground, OwnerAdvice& advice) {
  advice.verdict = Verdict::kShare;
  advice.profile.clear();
  advice.instead = kSharedGpuResource;
  advice.instead_each = 1;
  advice.pool = fmt::format("{}, {} by {}, which is to be made", pool.name,
                            to_string(pool.strategy), pool.replicas);
  advice.memory_gb = ground.usable ? static_cast<int>((*ground.usable / pool.replicas) >> 30) : 0;
  advice.part = pool.strategy == SharingStrategy::kMPS ? 100 / pool.replicas : 100;
  advice.month = saved_by(advice, pool.replicas);
}

void take_nodes(const ProposedPool& pool, SharedGround& ground) {
  std::erase_if(ground.nodes, [&](const SharedNode& node) {
    return std::ranges::find(pool.nodes, node.name) != pool.nodes.end();
  });
}

}  // namespace

std::vector<ProposedPool> propose_shared_pools(const Snapshot& snapshot,
                                               const GPUClusterPolicy& policy,
                                               std::vector<OwnerAdvice>& advices) {
  std::vector<ProposedPool> out;
  std::set<std::string> known;
  for (const PoolSpec& pool : policy.spec.pools) known.insert(pool.name);
  for (SharedGround& ground : grounds_of(snapshot, policy))
    for (const std::int32_t parts : kParts) {
      Members members;
      for (OwnerAdvice& advice : advices)
        if (does_with(advice, ground, parts)) members.push_back(&advice);
      std::optional<ProposedPool> pool = pool_for(ground, members, parts);
      if (!pool || known.size() == static_cast<std::size_t>(limits::kMaxPools)) continue;
      pool->name = pool_name(ground.pool->name, parts);
      if (!known.insert(pool->name).second) continue;
      for (OwnerAdvice* member : members) advise_part(*pool, ground, *member);
      take_nodes(*pool, ground);
      out.push_back(std::move(*pool));
    }
  if (!out.empty()) std::ranges::stable_sort(advices, std::greater(), &OwnerAdvice::month);
  return out;
}

}  // namespace berth::advise
