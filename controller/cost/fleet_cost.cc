// SPDX-License-Identifier: Apache-2.0
#include "controller/cost/fleet_cost.h"

#include <algorithm>
#include <vector>

#include "apis/base/names.h"
#include "controller/cost/node_price.h"
#include "controller/cost/node_use.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"

namespace berth::cost {
namespace {

constexpr char kTemplateHash[] = "pod-template-hash";

struct Part {
  std::int64_t gpus = 0;  // millionths
  Micros* money = nullptr;
};

// Rounds each part down and gives the rest to the last part, so that the parts cost as much as the
// whole.
void price(Micros node, std::int64_t whole, std::vector<Part> parts) {
  std::erase_if(parts, [](const Part& part) { return part.gpus == 0; });
  Micros left = node;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const Micros money = last ? left : std::min(left, share_of(node, parts[i].gpus, whole));
    *parts[i].money = money;
    left -= money;
  }
}

void add_holder(const HeldUse& held, const Spending& spending, Spendings& sums) {
  const Pod& pod = *held.pod;
  const Text* queue = pod.meta.labels.find(names::kQueueLabel);
  sums.namespaces[pod.meta.namespace_.str()].add(spending);
  sums.queues[queue == nullptr ? "" : queue->str()].add(spending);
  const std::string owner = pod.meta.namespace_.str() + "/" + owner_of(pod);
  sums.owners[owner].add(spending);
  if (held.memory_mib > 0) sums.memory[owner] = std::max(sums.memory[owner], held.memory_mib);
  if (held.peak) sums.peaks[owner] = std::max(sums.peaks[owner], *held.peak);
}

void add_node(const NodeUse& use, Micros per_hour, const std::string& pool, Spendings& sums) {
  std::vector<Spending> holders(use.held.size());
  Spending nobodys;
  std::vector<Part> parts;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    parts.push_back({use.held[i].used, &holders[i].used});
    parts.push_back({use.held[i].idle, &holders[i].idle});
    parts.push_back({use.held[i].unmeasured, &holders[i].unmeasured});
  }
  parts.push_back({use.free, &nobodys.free});
  parts.push_back({use.lost, &nobodys.lost});
  parts.push_back({use.fragments, &nobodys.fragments});
  price(per_hour, use.whole, std::move(parts));
  sums.pools[pool].add(nobodys);
  for (std::size_t i = 0; i < holders.size(); ++i) {
    sums.pools[pool].add(holders[i]);
    add_holder(use.held[i], holders[i], sums);
  }
}

}  // namespace

std::string owner_of(const Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr) return "Pod/" + pod.meta.name;
  std::string name = owner->name.str();
  const Text* hash = pod.meta.labels.find(kTemplateHash);
  const bool deployed =
      owner->kind == "ReplicaSet" && hash != nullptr && name.ends_with("-" + hash->str());
  if (!deployed) return owner->kind.str() + "/" + name;
  name.resize(name.size() - hash->view().size() - 1);
  return "Deployment/" + name;
}

std::string monthly_price(const Snapshot& snapshot, const Pod& pod) {
  const GPUClusterPolicy* policy = find_policy(snapshot.cluster);
  const Node* node = snapshot.cluster.nodes().find(pod.node_name.view());
  if (policy == nullptr || node == nullptr || !has_gpus(*node)) return "";
  const PoolSpec* pool = pool_of(*policy, *node);
  const auto price = pool != nullptr ? price_of(policy->spec, *pool, *node) : std::nullopt;
  if (!price) return "";
  const NodeUse use = use_of(snapshot, *node);
  const auto held = std::ranges::find(use.held, &pod, &HeldUse::pod);
  if (held == use.held.end()) return "";
  const std::int64_t gpus = held->used + held->idle + held->unmeasured;
  const Micros month = capped_product(share_of(price->per_hour, gpus, use.whole), kHoursOfMonth);
  return format_money(month, 0) + " " + price->currency;
}

SpendingsByCurrency hourly_cost(const Snapshot& snapshot, const GPUClusterPolicy& policy) {
  SpendingsByCurrency sums;
  for (const auto& node : snapshot.cluster.nodes()) {
    const PoolSpec* pool = has_gpus(*node) ? pool_of(policy, *node) : nullptr;
    if (pool == nullptr) continue;
    if (const auto price = price_of(policy.spec, *pool, *node))
      add_node(use_of(snapshot, *node), price->per_hour, pool->name, sums[price->currency]);
  }
  return sums;
}

}  // namespace berth::cost
