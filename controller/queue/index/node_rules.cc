// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/index/node_rules.h"

#include <fmt/format.h>

#include <utility>

#include "apis/base/names.h"
#include "controller/core/seeded_bugs.h"
#include "controller/fleet/pod_selects.h"

namespace berth::queue {
namespace {

// How many shapes are remembered. There are more only if nearly every pod spec differs.
constexpr std::size_t kRemembered = 10'000;

void append(std::string& text, const std::vector<SelectorRequirement>& requirements) {
  for (const SelectorRequirement& requirement : requirements) {
    text += fmt::format(" {} {}(", requirement.key.view(), static_cast<int>(requirement.op));
    for (const Text& value : requirement.values) text += fmt::format("{},", value.view());
    text += ')';
  }
}

std::string text_of(const PodShape::Fields& shape) {
  std::string text;
  for (const auto& [key, value] : shape.node_selector)
    text += fmt::format(" {}={}", key.view(), value.view());
  for (const NodeSelectorTerm& term : shape.required_node_affinity) {
    text += " or";
    append(text, term.match_expressions);
    text += " name";
    append(text, term.match_fields);
  }
  for (const Toleration& toleration : shape.tolerations) {
    text += fmt::format(" tolerates {} {} {} {}", toleration.key.view(), toleration.op.view(),
                        toleration.value.view(), toleration.effect.view());
  }
  return text.empty() ? "says nothing" : text;
}

}  // namespace

const std::string& NodeRules::name_of(const PodShape& shape) {
  if (names_.size() > kRemembered) names_.clear();
  const auto [known, fresh_shape] = names_.try_emplace(shape, nullptr);
  if (!fresh_shape) return *known->second;
  const auto [rules, fresh] = rules_.try_emplace(text_of(*shape));
  known->second = &rules->first;
  if (!fresh) return rules->first;
  rules->second.shape = shape;
  for (const auto& [node, pool] : nodes_) judge(rules->first, rules->second, *node, pool);
  return rules->first;
}

void NodeRules::judge(const std::string& name, const berth::Pod& says, const Node& node,
                      const std::string& pool) {
  if (seeded(SeededBug::kIgnoreRules)) return;
  if (node.meta.labels.get(names::kPoolLabel).view() != pool && !pool.empty()) {
    Node labelled = node;
    labelled.meta.labels.set(names::kPoolLabel, pool);
    return judge(name, says, labelled, pool);
  }
  facts_.refuse(name, node.meta.name, !selects(says, node) || !tolerates_taints(says, node));
}

void NodeRules::move(const Node* old, const Node* now) {
  std::string pool;
  if (const auto it = nodes_.find(old); it != nodes_.end()) {
    pool = std::move(it->second);
    nodes_.erase(it);
  }
  if (now != nullptr) nodes_.emplace(now, std::move(pool));
}

void NodeRules::put(const Node& node, const std::string& pool) {
  nodes_[&node] = pool;
  for (const auto& [name, says] : rules_) judge(name, says, node, pool);
}

}  // namespace berth::queue
