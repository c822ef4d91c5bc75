// SPDX-License-Identifier: Apache-2.0
// Selector: LabelSelector of metav1 and the node selector terms of core/v1, with all operators.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/flat_map.h"
#include "apis/base/result.h"

namespace berth {

enum class SelectorOperator {
  kIn,
  kNotIn,
  kExists,
  kDoesNotExist,
  kGt,
  kLt
};  // kGt, kLt: node affinity only

std::optional<SelectorOperator> selector_operator(std::string_view name);  // "In", "NotIn", …

struct SelectorRequirement {
  Text key;
  SelectorOperator op = SelectorOperator::kIn;
  std::vector<Text> values;
  bool operator==(const SelectorRequirement&) const = default;
};

// True if the labels satisfy the requirement. NotIn and DoesNotExist hold if the key is absent.
bool matches(const SelectorRequirement& requirement, const StringMap& labels);

struct LabelSelector {
  StringMap match_labels;
  std::vector<SelectorRequirement> match_expressions;

  bool empty() const {
    return match_labels.empty() && match_expressions.empty();
  }  // selects everything
  bool matches(const StringMap& labels) const;
  bool operator==(const LabelSelector&) const = default;
};

// "a=b,c in (d,e),!f", as kubectl prints it; "<everything>" if empty.
std::string format(const LabelSelector& selector);

}  // namespace berth
