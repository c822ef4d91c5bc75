// SPDX-License-Identifier: Apache-2.0
#include "apis/base/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace berth {
namespace {

std::optional<std::int64_t> read_integer(std::string_view text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Gt and Lt hold only if the requirement has one whole number and the label is a whole number.
std::optional<std::strong_ordering> compare_numbers(const Text* label,
                                                    const std::vector<Text>& values) {
  if (label == nullptr || values.size() != 1) return std::nullopt;
  auto left = read_integer(label->view()), right = read_integer(values.front().view());
  if (!left || !right) return std::nullopt;
  return *left <=> *right;
}

std::string join(const std::vector<Text>& values) {
  std::string text;
  for (const Text& value : values) {
    if (!text.empty()) text += ",";
    text += value.view();
  }
  return text;
}

std::string format(const SelectorRequirement& requirement) {
  std::string_view key = requirement.key.view();
  switch (requirement.op) {
    case SelectorOperator::kIn:
      return fmt::format("{} in ({})", key, join(requirement.values));
    case SelectorOperator::kNotIn:
      return fmt::format("{} notin ({})", key, join(requirement.values));
    case SelectorOperator::kExists:
      return std::string(key);
    case SelectorOperator::kDoesNotExist:
      return fmt::format("!{}", key);
    case SelectorOperator::kGt:
      return fmt::format("{}>{}", key, join(requirement.values));
    case SelectorOperator::kLt:
      return fmt::format("{}<{}", key, join(requirement.values));
  }
  return std::string(key);
}

}  // namespace

std::optional<SelectorOperator> selector_operator(std::string_view name) {
  if (name == "In") return SelectorOperator::kIn;
  if (name == "NotIn") return SelectorOperator::kNotIn;
  if (name == "Exists") return SelectorOperator::kExists;
  if (name == "DoesNotExist") return SelectorOperator::kDoesNotExist;
  if (name == "Gt") return SelectorOperator::kGt;
  if (name == "Lt") return SelectorOperator::kLt;
  return std::nullopt;
}

bool matches(const SelectorRequirement& requirement, const StringMap& labels) {
  const Text* value = labels.find(requirement.key);
  auto listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), *value) !=
           requirement.values.end();
  };
  switch (requirement.op) {
    case SelectorOperator::kIn:
      return value != nullptr && listed();
    case SelectorOperator::kNotIn:
      return value == nullptr || !listed();
    case SelectorOperator::kExists:
      return value != nullptr;
    case SelectorOperator::kDoesNotExist:
      return value == nullptr;
    case SelectorOperator::kGt: {
      auto order = compare_numbers(value, requirement.values);
      return order.has_value() && *order > 0;
    }
    case SelectorOperator::kLt: {
      auto order = compare_numbers(value, requirement.values);
      return order.has_value() && *order < 0;
    }
  }
  return false;
}

bool LabelSelector::matches(const StringMap& labels) const {
  for (const auto& [key, value] : match_labels) {
    const Text* found = labels.find(key);
    if (found == nullptr || *found != value) return false;
  }
  return std::all_of(match_expressions.begin(), match_expressions.end(),
                     [&](const SelectorRequirement& r) { return berth::matches(r, labels); });
}

std::string format(const LabelSelector& selector) {
  if (selector.empty()) return "<everything>";
  std::string text;
  auto add = [&text](const std::string& part) {
    if (!text.empty()) text += ",";
    text += part;
  };
  for (const auto& [key, value] : selector.match_labels) {
    add(fmt::format("{}={}", key.view(), value.view()));
  }
  for (const SelectorRequirement& r : selector.match_expressions) add(format(r));
  return text;
}

}  // namespace berth
