// SPDX-License-Identifier: Apache-2.0
// The rules for label selectors that the CRDs state in CEL, with their sentences.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apis/result.h"
#include "apis/selector.h"

namespace berth {

namespace rules {
inline constexpr char kValuesNeeded[] = "In and NotIn need at least one value";
inline constexpr char kValuesForbidden[] = "Exists and DoesNotExist take no values";
}  // namespace rules

// kValuesNeeded and kValuesForbidden; `path` is the selector's.
void check_expressions(const LabelSelector& selector, const std::string& path,
                       std::vector<Error>& errors);

// Complains with `message` of each label in the selector that `is_refused` names.
void check_labels(const LabelSelector& selector, bool (*is_refused)(std::string_view label),
                  const char* message, const std::string& path, std::vector<Error>& errors);

// What GPU feature discovery or a MIGLayout writes anew when a node's MIG layout changes.
bool changes_with_layout(std::string_view label);

}  // namespace berth
