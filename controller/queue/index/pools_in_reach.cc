// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/index/pools_in_reach.h"

#include <algorithm>
#include <string>

#include "apis/base/names.h"

namespace berth::queue {
StringMap labels_of_nodes(const PoolSpec& pool) {
  StringMap labels = pool.labels;
  for (const auto& [key, value] : pool.node_selector.match_labels) labels.set(key, value);
  labels.set(names::kPoolLabel, pool.name);
  return labels;
}

bool may_have(const StringMap& labels, const StringMap& node_selector) {
  return std::ranges::all_of(node_selector, [&](const auto& entry) {
    return !labels.contains(entry.first) || labels.get(entry.first) == entry.second;
  });
}

bool may_have(const StringMap& labels, const NodeSelectorTerm& term) {
  return std::ranges::all_of(term.match_expressions, [&](const SelectorRequirement& wanted) {
    return !labels.contains(wanted.key) || matches(wanted, labels);
  });
}

namespace {

bool may_run_in(const PoolSpec& pool, const PodShape::Fields& shape) {
  const StringMap labels = labels_of_nodes(pool);
  if (!may_have(labels, shape.node_selector)) return false;
  const auto& terms = shape.required_node_affinity;
  return terms.empty() ||
         std::ranges::any_of(terms, [&](const auto& term) { return may_have(labels, term); });
}

}  // namespace

PoolNames pools_in_reach(const PodShape::Fields& shape, const std::vector<PoolSpec>& pools) {
  if (shape.node_selector.empty() && shape.required_node_affinity.empty()) return {};
  PoolNames names;
  for (const PoolSpec& pool : pools)
    if (may_run_in(pool, shape)) names.push_back(pool.name);
  if (names.size() == pools.size()) return {};
  if (names.empty()) return {""};
  std::ranges::sort(names);
  return names;
}

}  // namespace berth::queue
