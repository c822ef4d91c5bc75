// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/pool_choice.h"

#include <algorithm>
#include <iterator>

#include "apis/names.h"

namespace berth {
namespace {

void add_demand(Placement& placement, std::string_view resource, const Quantity& count) {
  if (count > Quantity() && resource != kLegacyGpu)
    placement.demands.push_back({.resource = resource, .most = count});
}

// In one sort: a pod may name thousands.
void merge_demands(std::vector<GpuDemand>& demands) {
  std::ranges::sort(demands, [](const GpuDemand& a, const GpuDemand& b) {
    return a.resource != b.resource ? a.resource < b.resource : a.most > b.most;
  });
  const auto rest = std::ranges::unique(demands, {}, &GpuDemand::resource);
  demands.erase(rest.begin(), rest.end());
}

std::string_view node_of(const GpuPlace* place) { return place->node->meta.name; }

// The places that offer all that is asked for: of a large fleet, so none is copied.
std::vector<const GpuPlace*> common_places(const std::vector<GpuDemand>& demands,
                                           const GpuOffers& offers) {
  std::vector<const GpuPlace*> common;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const GpuOffer* offer = offers.find(demands[i].resource);
    if (offer == nullptr) return {};
    std::vector<const GpuPlace*> places;
    places.reserve(offer->places.size());
    for (const GpuPlace& place : offer->places) places.push_back(&place);
    if (i == 0) {
      common = std::move(places);
      continue;
    }
    std::vector<const GpuPlace*> both;
    std::ranges::set_intersection(common, places, std::back_inserter(both), {}, node_of, node_of);
    common = std::move(both);
  }
  return common;
}

// The pool's label is judged by the policy, not by what the node wears: it may come in a moment, or
// be about to go.
StringMap pool_label(const PoolSpec* pool) {
  if (pool == nullptr) return {};
  return {{names::kPoolLabel, Text(pool->name)}};
}

bool admits(const std::vector<SelectorRequirement>& requirements, const StringMap& labels,
            const StringMap& pool) {
  return std::ranges::all_of(requirements, [&](const SelectorRequirement& r) {
    return matches(r, r.key == names::kPoolLabel ? pool : labels);
  });
}

bool admits(const NodeSelectorTerm& term, const Node& node, const StringMap& pool) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  if (!admits(term.match_expressions, node.meta.labels, pool)) return false;
  if (term.match_fields.empty()) return true;
  return admits(term.match_fields, {{"metadata.name", Text(node.meta.name)}}, {});
}

bool admits(const StringMap& selector, const StringMap& labels, const StringMap& pool) {
  return std::ranges::all_of(selector, [&](const auto& entry) {
    const StringMap& where = entry.first == names::kPoolLabel ? pool : labels;
    const Text* value = where.find(entry.first);
    return value != nullptr && *value == entry.second;
  });
}

bool admits(const Placement& placement, const Node& node, const StringMap& pool) {
  // The kubelet asks nobody's selectors.
  if (!placement.node_name.empty()) return node.meta.name == placement.node_name;
  if (!admits(*placement.node_selector, node.meta.labels, pool)) return false;
  return placement.terms.empty() ||
         std::ranges::any_of(placement.terms, [&](const NodeSelectorTerm* term) {
           return admits(*term, node, pool);
         });
}

bool is_free(const Placement& placement) {
  return placement.node_name.empty() && placement.node_selector->empty() && placement.terms.empty();
}

bool serves(const PoolSpec& pool, const std::vector<GpuDemand>& demands) {
  return std::ranges::none_of(demands, [&](const GpuDemand& demand) {
    return demand.most > Quantity::whole(1) && fails_above_one(pool, demand.resource);
  });
}

void expose(PoolChoice& choice, const Placement& placement, const GPUClusterPolicy& policy,
            const GpuOffers& offers) {
  const std::vector<PoolSpec>& pools = policy.spec.pools;
  const std::vector<GpuDemand>& demands = placement.demands;
  if (demands.empty()) return;
  if (demands.size() == 1 && is_free(placement)) {  // by far the most pods
    const GpuOffer* offer = offers.find(demands.front().resource);
    if (offer == nullptr) return;
    choice.outside_pools = offer->outside_pools;
    for (PoolIndex index : offer->pools) choice.exposed.push_back(&pools[index]);
    return;
  }
  std::vector<bool> reached(pools.size());
  std::vector<StringMap> labels;
  for (const PoolSpec& pool : pools) labels.push_back(pool_label(&pool));
  for (const GpuPlace* place : common_places(demands, offers)) {
    const bool outside = place->pool == kNoPool;
    if (outside ? choice.outside_pools : reached[place->pool]) continue;
    if (!admits(placement, *place->node, outside ? StringMap() : labels[place->pool])) continue;
    if (outside)
      choice.outside_pools = true;
    else
      reached[place->pool] = true;
  }
  for (std::size_t i = 0; i < pools.size(); ++i)
    if (reached[i]) choice.exposed.push_back(&pools[i]);
}

}  // namespace

Placement placement_of(const PodSlice& pod) {
  Placement placement{.node_name = pod.node_name, .node_selector = &pod.node_selector};
  for (const ContainerSlice& container : pod.containers)
    for (const GpuAmount& amount : container.gpus)
      add_demand(placement, amount.resource, amount.asked());
  merge_demands(placement.demands);
  for (const TermSlice& term : pod.terms) placement.terms.push_back(&term.term);
  return placement;
}

Placement placement_of(const Pod& pod) {
  Placement placement{.node_selector = &pod.node_selector};
  for (const auto& [resource, count] : pod.requests)
    if (is_gpu_resource(resource.view())) add_demand(placement, resource.view(), count);
  for (const NodeSelectorTerm& term : pod.required_node_affinity) placement.terms.push_back(&term);
  return placement;
}

PoolChoice choose_pools(const Placement& placement, const GPUClusterPolicy& policy,
                        const GpuOffers& offers, const StringMap& namespace_labels) {
  PoolChoice choice;
  expose(choice, placement, policy, offers);
  for (const PoolSpec* pool : choice.exposed)
    if (open_to(pool->eligible_namespaces, namespace_labels) && serves(*pool, placement.demands))
      choice.targets.push_back(pool);
  return choice;
}

bool open_to(const std::optional<LabelSelector>& eligible, const StringMap& namespace_labels) {
  return !eligible || eligible->matches(namespace_labels);
}

bool holds_to(const PoolChoice& choice, const Placement& placement, const NodeSelectorTerm* term) {
  const auto lands = [&](const StringMap& pool) {
    const Text* selected = placement.node_selector->find(names::kPoolLabel);
    if (selected != nullptr && pool.get(names::kPoolLabel) != *selected) return false;
    return term == nullptr ||
           std::ranges::all_of(term->match_expressions, [&](const SelectorRequirement& r) {
             return r.key != names::kPoolLabel || matches(r, pool);
           });
  };
  if (lands({})) return false;  // a node outside every pool
  return std::ranges::all_of(choice.exposed, [&](const PoolSpec* pool) {
    return std::ranges::find(choice.targets, pool) != choice.targets.end() ||
           !lands(pool_label(pool));
  });
}

std::vector<Taint> untolerated(const PoolChoice& choice, const std::vector<Toleration>& has) {
  std::vector<Taint> taints;
  for (const PoolSpec* pool : choice.targets)
    for (const Taint& taint : pool->taints)
      if (!tolerates(has, taint) && std::ranges::find(taints, taint) == taints.end())
        taints.push_back(taint);
  return taints;
}

}  // namespace berth
