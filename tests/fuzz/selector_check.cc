// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "apis/base/selector.h"
#include "apis/codec/decode.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/plain_json.h"

namespace berth::test {
namespace {

using Json = nlohmann::json;

// Kubernetes' rules, evaluated on the JSON: In and NotIn compare values; NotIn and DoesNotExist
// match an absent label. nullopt: not an operator of label selectors.
std::optional<bool> holds(const Json& requirement, const Json& labels) {
  const std::string key = requirement.value("key", "");
  const std::string op = requirement.value("operator", "");
  const Json values = requirement.value("values", Json::array());
  const bool present = labels.contains(key);
  const bool listed = present && std::ranges::find(values, labels[key]) != values.end();
  if (op == "In") return listed;
  if (op == "NotIn") return !listed;
  if (op == "Exists") return present;
  if (op == "DoesNotExist") return !present;
  return std::nullopt;
}

std::optional<bool> selects(const Json& selector, const Json& labels) {
  const Json wanted = selector.value("matchLabels", Json::object());
  bool all = std::ranges::all_of(wanted.items(), [&](const auto& entry) {
    return labels.contains(entry.key()) && labels[entry.key()] == entry.value();
  });
  for (const Json& requirement : selector.value("matchExpressions", Json::array())) {
    const std::optional<bool> held = holds(requirement, labels);
    if (!held) return std::nullopt;
    all = all && *held;
  }
  return all;
}

}  // namespace

Verdict check_selector(std::string_view text) {
  const std::optional<Json> input = plain_json(text);
  if (!input || !input->is_object()) return {};
  const Json selector = input->value("selector", Json()), labels = input->value("labels", Json());
  std::string budget =
      Json{{"metadata", {{"name", "b"}, {"namespace", "a"}}}, {"spec", {{"selector", selector}}}}
          .dump();
  std::string pod =
      Json{{"metadata", {{"name", "p"}, {"namespace", "a"}, {"labels", labels}}}}.dump();
  const Result<PodDisruptionBudget> selecting = decode_object<PodDisruptionBudget>(budget);
  const Result<Pod> selected = decode_object<Pod>(pod);
  if (!selecting.has_value() || !selected.has_value()) return {};
  if (!selecting->selector)
    return {.wrong = selecting->selects(*selected) ? "no selector selects" : ""};
  Verdict verdict{.read = true};
  try {
    const std::optional<bool> expected =
        selects(selector, labels.is_null() ? Json::object() : labels);
    if (expected && *expected != selecting->selects(*selected))
      verdict.wrong = "selects what it should not, or does not: " + format(*selecting->selector);
  } catch (
      const Json::exception&) {  // null where a value is required: the reader takes its default
  }
  if (selecting->selector->empty() != (format(*selecting->selector) == "<everything>"))
    verdict.wrong = "printed as everything";
  return verdict;
}

}  // namespace berth::test
