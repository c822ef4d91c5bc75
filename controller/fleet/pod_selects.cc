// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/pod_selects.h"

#include <algorithm>
#include <string_view>

namespace berth {
namespace {

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Whether the text is a valid label value: at most 63 letters, digits and, between them, '-', '_'
// and '.'; or empty.
bool is_label_value(std::string_view value) {
  if (value.empty()) return true;
  return value.size() <= 63 && is_alphanumeric(value.front()) && is_alphanumeric(value.back()) &&
         std::ranges::all_of(
             value, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

// The API server accepts a term with any values. The scheduler can't read a term with a value that
// no label can have, and such a term matches no node, not even with NotIn, or with Gt and a
// negative number.
bool is_readable(const NodeSelectorTerm& term) {
  return std::ranges::all_of(term.match_expressions, [](const SelectorRequirement& requirement) {
    return std::ranges::all_of(requirement.values,
                               [](const Text& value) { return is_label_value(value.view()); });
  });
}

bool term_matches(const NodeSelectorTerm& term, const Node& node) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  if (!is_readable(term)) return false;
  const StringMap fields = {{Text("metadata.name"), Text(node.meta.name)}};
  return std::ranges::all_of(term.match_expressions,
                             [&](const auto& r) { return matches(r, node.meta.labels); }) &&
         std::ranges::all_of(term.match_fields, [&](const auto& r) { return matches(r, fields); });
}

}  // namespace

bool selects(const Pod& pod, const Node& node) {
  for (const auto& [key, value] : pod.shape->node_selector) {
    const Text* label = node.meta.labels.find(key);
    if (label == nullptr || *label != value) return false;
  }
  return pod.shape->required_node_affinity.empty() ||
         std::ranges::any_of(pod.shape->required_node_affinity,
                             [&](const auto& term) { return term_matches(term, node); });
}

bool tolerates_taints(const Pod& pod, const Node& node) {
  return std::ranges::all_of(node.taints, [&](const Taint& taint) {
    return taint.effect == "PreferNoSchedule" || tolerates(pod.shape->tolerations, taint);
  });
}

bool tolerates_cordon(const Pod& pod) {
  return tolerates(pod.shape->tolerations,
                   Taint{"node.kubernetes.io/unschedulable", "", "NoSchedule"});
}

}  // namespace berth
