// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/pools_in_reach.h"

#include <algorithm>
#include <string>

#include "apis/names.h"

namespace berth::queue {
namespace {

// What each node of the pool has.
StringMap labels_of(const PoolSpec& pool) {
  StringMap labels = pool.labels;
  for (const auto& [key, value] : pool.node_selector.match_labels) labels.set(key, value);
  labels.set(names::kPoolLabel, pool.name);
  return labels;
}

bool may_match(const NodeSelectorTerm& term, const StringMap& labels) {
  return std::ranges::all_of(term.match_expressions, [&](const SelectorRequirement& wanted) {
    return !labels.contains(wanted.key) || matches(wanted, labels);
  });
}

bool may_run_in(const PoolSpec& pool, const PodShape::Fields& shape) {
  const StringMap labels = labels_of(pool);
  for (const auto& [key, value] : shape.node_selector) {
    if (labels.contains(key) && labels.get(key) != value) return false;
  }
  const auto& terms = shape.required_node_affinity;
  return terms.empty() ||
         std::ranges::any_of(terms, [&](const auto& term) { return may_match(term, labels); });
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
