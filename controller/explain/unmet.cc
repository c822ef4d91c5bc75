// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/unmet.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "apis/base/names.h"

namespace berth {
namespace {

// The node's label with the key, for users.
std::string label_told(const Node& node, std::string_view key) {
  const Text* value = node.meta.labels.find(key);
  return value == nullptr ? fmt::format("no {}", key) : fmt::format("{}={}", key, value->view());
}

std::optional<Unmet> unmet_of(const NodeSelectorTerm& term, const Node& node) {
  for (const SelectorRequirement& r : term.match_expressions)
    if (!matches(r, node.meta.labels)) {
      Unmet unmet{.asked = format(LabelSelector{{}, {r}}), .found = label_told(node, r.key.view())};
      if (r.op == SelectorOperator::kIn && r.values.size() == 1) {
        unmet.key = r.key.str();
        unmet.value = r.values.front().str();
      }
      return unmet;
    }
  for (const SelectorRequirement& r : term.match_fields) {
    const StringMap fields = {{Text("metadata.name"), Text(node.meta.name)}};
    if (!matches(r, fields))
      return Unmet{.asked = format(LabelSelector{{}, {r}}), .found = "another name"};
  }
  return std::nullopt;
}

}  // namespace

Unmet unmet_of(const Pod& pod, const Node& node) {
  for (const auto& [key, value] : pod.shape->node_selector)
    if (const Text* label = node.meta.labels.find(key); label == nullptr || *label != value)
      return {.asked = fmt::format("nodeSelector {}={}", key.view(), value.view()),
              .found = label_told(node, key.view()),
              .key = key.str(),
              .value = value.str()};
  Unmet out;
  std::vector<std::string> asked, found;
  for (const NodeSelectorTerm& term : pod.shape->required_node_affinity) {
    const std::optional<Unmet> unmet = unmet_of(term, node);
    asked.push_back(unmet ? unmet->asked : "nothing, which selects no node");
    if (unmet && std::ranges::find(found, unmet->found) == found.end())
      found.push_back(unmet->found);
    if (unmet && pod.shape->required_node_affinity.size() == 1) out = *unmet;
  }
  out.asked = fmt::format("node affinity {}", fmt::join(asked, " or "));
  out.found = fmt::format("{}", fmt::join(found, ", "));
  return out;
}

std::string told(const Unmet& unmet) {
  return fmt::format("not selected: the pod asks for {}, and here it is {}", unmet.asked,
                     unmet.found);
}

Pod as_written(const Pod& pod) {
  const Text* added = pod.meta.annotations.find(names::kMutationsAnnotation);
  if (added == nullptr || added->view().find("poolAffinity") == std::string_view::npos) return pod;
  Pod written = pod;
  std::vector<NodeSelectorTerm> terms = pod.shape->required_node_affinity;
  for (NodeSelectorTerm& term : terms)
    std::erase_if(term.match_expressions,
                  [](const SelectorRequirement& r) { return r.key == names::kPoolLabel; });
  if (std::ranges::any_of(terms, [](const NodeSelectorTerm& term) {
        return term.match_expressions.empty() && term.match_fields.empty();
      }))
    terms.clear();  // it consists only of the webhook's terms
  written.shape.edit()->required_node_affinity = std::move(terms);
  return written;
}

}  // namespace berth
