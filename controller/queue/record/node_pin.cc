// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/record/node_pin.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "apis/base/names.h"
#include "controller/core/json_patch.h"
#include "controller/core/seeded_bugs.h"

namespace berth::queue {
namespace {

constexpr char kName[] = "metadata.name";

const char* name_of(SelectorOperator op) {
  switch (op) {
    case SelectorOperator::kIn:
      return "In";
    case SelectorOperator::kNotIn:
      return "NotIn";
    case SelectorOperator::kExists:
      return "Exists";
    case SelectorOperator::kDoesNotExist:
      return "DoesNotExist";
    case SelectorOperator::kGt:
      return "Gt";
    case SelectorOperator::kLt:
      break;
  }
  return "Lt";
}

std::string list_of(const std::vector<SelectorRequirement>& requirements) {
  std::string items;
  for (const SelectorRequirement& requirement : requirements) {
    std::string values;
    for (const Text& value : requirement.values)
      values += (values.empty() ? "" : ",") + quote_json(value.view());
    items += fmt::format(R"({}{{"key":{},"operator":"{}")", items.empty() ? "" : ",",
                         quote_json(requirement.key.view()), name_of(requirement.op));
    items += values.empty() ? "}" : ",\"values\":[" + values + "]}";
  }
  return "[" + items + "]";
}

}  // namespace

NodePin pin_to(const std::vector<std::string>& nodes, const Store<Node>& among) {
  if (nodes.size() == 1) return {.values = nodes};
  NodePin pin{.by_name = false};
  for (const std::string& name : nodes) {
    const Node* node = among.find(name);
    const Text hostname = node == nullptr ? Text() : node->meta.labels.get(names::kHostnameLabel);
    if (hostname.empty()) return {};
    pin.values.push_back(hostname.str());
  }
  return pin;
}

std::string affinity_patch(std::vector<NodeSelectorTerm> terms, const NodePin& pin) {
  SelectorRequirement requirement{.key = pin.by_name ? kName : names::kHostnameLabel};
  for (const std::string& value : pin.values) requirement.values.emplace_back(value);
  if (!pin.values.empty()) {
    if (terms.empty()) terms.emplace_back();
    for (NodeSelectorTerm& term : terms) {
      if (seeded(SeededBug::kPinOneTerm) && &term != &terms.front()) continue;
      (pin.by_name ? term.match_fields : term.match_expressions).push_back(requirement);
    }
  }
  std::string items;
  for (const NodeSelectorTerm& term : terms) {
    std::string item;
    if (!term.match_expressions.empty())
      item = R"("matchExpressions":)" + list_of(term.match_expressions);
    if (!term.match_fields.empty())
      item += (item.empty() ? "" : ",") + (R"("matchFields":)" + list_of(term.match_fields));
    items += fmt::format("{}{{{}}}", items.empty() ? "" : ",", item);
  }
  const std::string required =
      terms.empty() ? "null" : fmt::format(R"({{"nodeSelectorTerms":[{}]}})", items);
  return R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)" + required + "}}";
}

// A pin by hostname has other values than node names, but as many.
bool is_pin_of(const AdmissionFact& admission, const SelectorRequirement& requirement) {
  return requirement.op == SelectorOperator::kIn && !admission.nodes.empty() &&
         requirement.values.size() == admission.nodes.size() &&
         (requirement.key == names::kHostnameLabel ||
          (requirement.key == kName &&
           requirement.values.front().view() == admission.nodes.front()));
}

PodShape without_admission(const PodShape& shape, const AdmissionFact& admission) {
  if (admission.nodes.empty() && !admission.selects_pool) return shape;
  const auto is_pin = [&](const SelectorRequirement& requirement) {
    return is_pin_of(admission, requirement);
  };
  PodShape out = shape;
  {
    auto fields = out.edit();
    const Text pool = fields->node_selector.get(names::kPoolLabel);
    if (admission.selects_pool && pool.view() == admission.pool)
      fields->node_selector.erase(names::kPoolLabel);
    auto& terms = fields->required_node_affinity;
    for (NodeSelectorTerm& term : terms) {
      std::erase_if(term.match_fields, is_pin);
      std::erase_if(term.match_expressions, is_pin);
    }
    // A term without requirements selects nothing. It contained only the pin.
    std::erase_if(terms, [](const NodeSelectorTerm& term) {
      return term.match_fields.empty() && term.match_expressions.empty();
    });
  }
  return out;
}

}  // namespace berth::queue
