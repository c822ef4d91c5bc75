// SPDX-License-Identifier: Apache-2.0
// SelectorRules: the CRDs' CEL rules for label selectors, with their messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "apis/base/selector.h"

namespace berth {

namespace rules {
inline constexpr char kValuesNeeded[] = "In and NotIn need at least one value";
inline constexpr char kValuesForbidden[] = "Exists and DoesNotExist take no values";
}  // namespace rules

// Checks kValuesNeeded and kValuesForbidden; `path` is that of the selector.
void check_expressions(const LabelSelector& selector, const std::string& path,
                       std::vector<Error>& errors);

// Adds an error with `message` for each label in the selector for which `is_refused` is true.
void check_labels(const LabelSelector& selector, bool (*is_refused)(std::string_view label),
                  const char* message, const std::string& path, std::vector<Error>& errors);

// Labels that GPU feature discovery or a MIGLayout rewrites when a node's MIG layout changes.
bool changes_with_layout(std::string_view label);

}  // namespace berth
