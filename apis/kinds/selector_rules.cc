// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/selector_rules.h"

#include <fmt/format.h>

namespace berth {

void check_expressions(const LabelSelector& selector, const std::string& path,
                       std::vector<Error>& errors) {
  for (std::size_t i = 0; i < selector.match_expressions.size(); ++i) {
    const SelectorRequirement& r = selector.match_expressions[i];
    std::string where = fmt::format("{}.matchExpressions[{}].values", path, i);
    bool wants_values = r.op == SelectorOperator::kIn || r.op == SelectorOperator::kNotIn;
    if (wants_values && r.values.empty())
      errors.push_back(invalid_spec(where, rules::kValuesNeeded));
    if (!wants_values && !r.values.empty()) {
      errors.push_back(invalid_spec(where, rules::kValuesForbidden));
    }
  }
}

void check_labels(const LabelSelector& selector, bool (*is_refused)(std::string_view label),
                  const char* message, const std::string& path, std::vector<Error>& errors) {
  const auto& labels = selector.match_labels;
  if (std::any_of(labels.begin(), labels.end(),
                  [&](const auto& label) { return is_refused(label.first.view()); })) {
    errors.push_back(invalid_spec(path + ".matchLabels", message));
  }
  const auto& expressions = selector.match_expressions;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    if (is_refused(expressions[i].key.view()))
      errors.push_back(invalid_spec(fmt::format("{}.matchExpressions[{}].key", path, i), message));
  }
}

bool changes_with_layout(std::string_view label) {
  return label == "nvidia.com/gpu.product" || label == "nvidia.com/gpu.count" ||
         label == "nvidia.com/gpu.memory" || label == "nvidia.com/gpu.replicas" ||
         label.starts_with("nvidia.com/mig-") || label.starts_with("nvidia.com/mig.config");
}

}  // namespace berth
