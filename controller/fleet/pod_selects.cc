// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/pod_selects.h"

#include <algorithm>

namespace berth {
namespace {

bool term_matches(const NodeSelectorTerm& term, const Node& node) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
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
