// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/pool_choice.h"

#include <algorithm>
#include <iterator>

#include "apis/base/names.h"
#include "controller/queue/index/pools_in_reach.h"

namespace berth {
namespace {

const StringMap kNoLabels;

void add_demand(Placement& placement, std::string_view resource, const Quantity& count) {
  if (count > Quantity() && resource != kLegacyGpu)
    placement.demands.push_back({.resource = resource, .most = count});
}

// One sort, because a pod may name thousands.
void merge_demands(std::vector<GpuDemand>& demands) {
  std::ranges::sort(demands, [](const GpuDemand& a, const GpuDemand& b) {
    return a.resource != b.resource ? a.resource < b.resource : a.most > b.most;
  });
  const auto rest = std::ranges::unique(demands, {}, &GpuDemand::resource);
  demands.erase(rest.begin(), rest.end());
}

// The classes that offer every requested resource.
std::vector<const NodeClass*> common_classes(const std::vector<GpuDemand>& demands,
                                             const GpuOffers& offers) {
  std::vector<const NodeClass*> common;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const GpuOffer* offer = offers.find(demands[i].resource);
    if (offer == nullptr) return {};
    if (i == 0) {
      common = offer->classes;
      continue;
    }
    std::vector<const NodeClass*> both;
    std::ranges::set_intersection(common, offer->classes, std::back_inserter(both), {},
                                  &NodeClass::number, &NodeClass::number);
    common = std::move(both);
  }
  return common;
}

// The policy decides about the pool label, not the node's present label: berth may be about to
// write or to remove that.
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
  // The kubelet ignores selectors and affinity.
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

// Elastic pools whose future nodes may offer every requested resource.
std::vector<PoolIndex> common_to_come(const std::vector<GpuDemand>& demands,
                                      const GpuOffers& offers) {
  const auto may_offer = [&](PoolIndex pool) {
    return std::ranges::all_of(demands, [&](const GpuDemand& demand) {
      const GpuOffer* offer = offers.find(demand.resource);
      return offer != nullptr && std::ranges::binary_search(offer->to_come, pool);
    });
  };
  const GpuOffer* first = offers.find(demands.front().resource);
  std::vector<PoolIndex> common;
  if (first != nullptr) std::ranges::copy_if(first->to_come, std::back_inserter(common), may_offer);
  return common;
}

// Judged by the labels that each node of the pool has. Future nodes may have any other label.
bool may_admit(const Placement& placement, const PoolSpec& pool) {
  if (!placement.node_name.empty()) return false;
  const StringMap labels = queue::labels_of_nodes(pool);
  if (!queue::may_have(labels, *placement.node_selector)) return false;
  return placement.terms.empty() ||
         std::ranges::any_of(placement.terms, [&](const NodeSelectorTerm* term) {
           return queue::may_have(labels, *term);
         });
}

// The cost to match the placement with one node, in label look-ups.
std::size_t work_of(const Placement& placement) {
  constexpr std::size_t kValuesAtOnce = 16;  // about one look-up's time
  std::size_t work = 1 + placement.node_selector->size();
  for (const NodeSelectorTerm* term : placement.terms)
    for (const auto* requirements : {&term->match_expressions, &term->match_fields})
      for (const SelectorRequirement& r : *requirements)
        work += 1 + r.values.size() / kValuesAtOnce;
  return work;
}

// Whether the placement may match some nodes of a class and not others.
bool tells_nodes_apart(const Placement& placement, const GpuOffers& offers) {
  const auto particular = [&](const Text& label) { return offers.is_particular(label); };
  return !placement.node_name.empty() ||
         std::ranges::any_of(*placement.node_selector,
                             [&](const auto& entry) { return particular(entry.first); }) ||
         std::ranges::any_of(placement.terms, [&](const NodeSelectorTerm* term) {
           return !term->match_fields.empty() ||
                  std::ranges::any_of(term->match_expressions, particular,
                                      &SelectorRequirement::key);
         });
}

// Whether the placement can match a node of the pool, if the node has every other label it needs.
bool admits_pool(const Placement& placement, const StringMap& pool) {
  const auto good = [&](const SelectorRequirement& r) {
    return r.key != names::kPoolLabel || matches(r, pool);
  };
  const Text* selected = placement.node_selector->find(names::kPoolLabel);
  if (selected != nullptr && pool.get(names::kPoolLabel) != *selected) return false;
  return placement.terms.empty() ||
         std::ranges::any_of(placement.terms, [&](const NodeSelectorTerm* term) {
           return std::ranges::all_of(term->match_expressions, good);
         });
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
  if (demands.size() == 1 && is_free(placement)) {  // nearly all pods
    const GpuOffer* offer = offers.find(demands.front().resource);
    if (offer == nullptr) return;
    choice.outside_pools = offer->outside_pools;
    for (PoolIndex index : offer->pools) choice.exposed.push_back(&pools[index]);
    return;
  }
  // A hundred thousand look-ups take two or three milliseconds, and block all other requests.
  constexpr std::size_t kMaxWork = 100'000;
  const std::vector<const NodeClass*> classes = common_classes(demands, offers);
  const bool each_node = tells_nodes_apart(placement, offers);
  const std::vector<PoolIndex> to_come = common_to_come(demands, offers);
  std::size_t candidates = classes.size() + to_come.size();
  if (each_node)
    for (const NodeClass* of : classes) candidates += of->nodes.size();
  choice.judged = candidates * work_of(placement) <= kMaxWork;

  std::vector<bool> reached(pools.size());
  std::vector<StringMap> labels;
  for (const PoolSpec& pool : pools) labels.push_back(pool_label(&pool));
  for (const NodeClass* of : classes) {
    const bool outside = of->pool == kNoPool;
    if (outside ? choice.outside_pools : reached[of->pool]) continue;
    const StringMap& pool = outside ? kNoLabels : labels[of->pool];
    const auto admitted = [&](const std::shared_ptr<const Node>& node) {
      return admits(placement, *node, pool);
    };
    const bool lands = !choice.judged ? admits_pool(placement, pool)
                       : each_node    ? std::ranges::any_of(of->nodes, admitted)
                                      : admitted(of->nodes.front());
    if (!lands) continue;
    if (outside)
      choice.outside_pools = true;
    else
      reached[of->pool] = true;
  }
  for (const PoolIndex index : to_come)
    reached[index] =
        choice.judged ? may_admit(placement, pools[index]) : admits_pool(placement, labels[index]);
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
  Placement placement{.node_selector = &pod.shape->node_selector};
  for (const auto& [resource, count] : gpus_in(pod.shape->requests))
    add_demand(placement, resource.view(), count);
  for (const NodeSelectorTerm& term : pod.shape->required_node_affinity)
    placement.terms.push_back(&term);
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

bool reaches(const PoolChoice& choice, const GPUClusterPolicy& policy, const NodeClass& nodes) {
  if (nodes.pool == kNoPool) return choice.outside_pools;
  return std::ranges::find(choice.exposed, &policy.spec.pools[nodes.pool]) != choice.exposed.end();
}

bool reaches_nodes_to_come(const PoolChoice& choice, const GPUClusterPolicy& policy,
                           const GpuOffer& offer) {
  return std::ranges::any_of(offer.to_come, [&](PoolIndex pool) {
    return std::ranges::find(choice.exposed, &policy.spec.pools[pool]) != choice.exposed.end();
  });
}

bool open_to(const std::optional<LabelSelector>& eligible, const StringMap& namespace_labels) {
  return !eligible || eligible->matches(namespace_labels);
}

const CatalogEntry* closing_entry(const GPUClusterPolicy& policy, std::string_view resource,
                                  const StringMap& namespace_labels) {
  const CatalogEntry* closed = nullptr;
  for (const CatalogEntry& entry : policy.spec.resource_catalog) {
    if (entry.resource != resource) continue;
    if (open_to(entry.eligible_namespaces, namespace_labels)) return nullptr;
    if (closed == nullptr) closed = &entry;
  }
  return closed;
}

bool may_have_alone(const GPUClusterPolicy& policy, const PoolSpec* pool, std::string_view resource,
                    const StringMap& namespace_labels) {
  if (closing_entry(policy, resource, namespace_labels) != nullptr) return false;
  return pool == nullptr ||
         (open_to(pool->eligible_namespaces, namespace_labels) && !shares(*pool, resource));
}

bool holds_to(const PoolChoice& choice, const Placement& placement, const NodeSelectorTerm* term) {
  Placement alone{.node_selector = placement.node_selector};
  if (term != nullptr) alone.terms = {term};
  const auto lands = [&](const StringMap& pool) { return admits_pool(alone, pool); };
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
