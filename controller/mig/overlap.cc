// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/overlap.h"

#include <fmt/format.h>

#include <algorithm>

#include "controller/core/empty_selection.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/target.h"

namespace berth {

bool selects(const MIGLayout& layout, const Node& node) {
  const MIGLayoutSpec& spec = layout.spec;
  // The CRD rejects a layout with neither selector. One that was created without review selects
  // nothing.
  if (!spec.node_selector && spec.product_selector.empty()) return false;
  if (spec.node_selector) {
    if (!spec.node_selector->matches(node.meta.labels)) return false;
    if (spec.node_selector->empty() && !has_gpus(node)) return false;
  }
  if (spec.product_selector.empty()) return true;
  std::optional<Inventory> inventory = inventory_of(node);
  return inventory && std::ranges::find(spec.product_selector, inventory->product) !=
                          spec.product_selector.end();
}

std::string why_none_selected(const MIGLayout& layout, const ClusterState& cluster) {
  const LabelSelector selector = layout.spec.node_selector.value_or(LabelSelector());
  std::map<std::string, int> products;
  bool matched = false;
  for (const auto& node : cluster.nodes()) {
    if (!selector.matches(node->meta.labels)) continue;
    matched = true;
    if (const std::optional<Inventory> inventory = inventory_of(*node))
      ++products[inventory->product];
  }
  if (!matched) return why_none_matches(selector, cluster);
  if (products.empty())
    return fmt::format("no {}node has GPUs of a known product (label nvidia.com/gpu.product)",
                       selector.empty() ? "" : "selected ");
  const std::vector<std::string>& wanted = layout.spec.product_selector;
  if (wanted.empty()) return "no node has GPUs";
  return fmt::format("no {}node has product {}; {}", selector.empty() ? "" : "selected ",
                     fmt::join(wanted, " or "), values_instead(wanted.front(), products));
}

LayoutOwners::LayoutOwners(const ClusterState& cluster) {
  for (const auto& layout : cluster.mig_layouts())
    if (!layout->meta.deletion_timestamp || disables_mig(*layout))
      by_precedence_.push_back(layout.get());
  std::ranges::sort(by_precedence_, [](const MIGLayout* a, const MIGLayout* b) {
    auto rank = [](const MIGLayout* l) {
      return std::make_tuple(l->meta.deletion_timestamp.has_value(),
                             -static_cast<std::int64_t>(l->spec.priority),
                             l->meta.creation_timestamp, std::string_view(l->meta.uid),
                             std::string_view(l->meta.name));
    };
    return rank(a) < rank(b);
  });
}

const MIGLayout* LayoutOwners::owner_of(const Node& node) const {
  auto it = std::ranges::find_if(by_precedence_,
                                 [&](const MIGLayout* layout) { return selects(*layout, node); });
  return it == by_precedence_.end() ? nullptr : *it;
}

std::string precedence(const MIGLayout& first, const MIGLayout& second) {
  const std::string& name = first.meta.name;
  if (first.spec.priority != second.spec.priority)
    return fmt::format("{}: priority {} over {}", name, first.spec.priority, second.spec.priority);
  if (first.meta.creation_timestamp != second.meta.creation_timestamp)
    return fmt::format("{}: older, of the same priority {}", name, first.spec.priority);
  return fmt::format("{}: as old and of the same priority {}, first by uid", name,
                     first.spec.priority);
}

const MIGLayout* find_layout_by_uid(const ClusterState& cluster, std::string_view uid) {
  for (const auto& layout : cluster.mig_layouts())
    if (layout->meta.uid == uid) return layout.get();
  return nullptr;
}

}  // namespace berth
