// SPDX-License-Identifier: Apache-2.0
#include "controller/core/empty_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "apis/base/nearest_name.h"

namespace berth {
namespace {

// Enough to find a typing error, at a cost that fits one request.
constexpr std::size_t kMaxRequirements = 16;
constexpr std::size_t kMaxValues = 64;
constexpr std::size_t kNodesForKeys = 200;

std::vector<SelectorRequirement> requirements_of(const LabelSelector& selector) {
  std::vector<SelectorRequirement> all;
  for (const auto& [key, value] : selector.match_labels)
    all.push_back({.key = key, .op = SelectorOperator::kIn, .values = {value}});
  all.insert(all.end(), selector.match_expressions.begin(), selector.match_expressions.end());
  if (all.size() > kMaxRequirements) all.resize(kMaxRequirements);
  return all;
}

std::map<std::string, int> values_of(const Text& key, const ClusterState& cluster) {
  std::map<std::string, int> values;
  for (const auto& node : cluster.nodes())
    if (const Text* value = node->meta.labels.find(key))
      if (values.size() < kMaxValues || values.contains(value->str())) ++values[value->str()];
  return values;
}

std::string key_instead(const Text& key, const ClusterState& cluster) {
  std::set<std::string> keys;
  std::size_t seen = 0;
  for (const auto& node : cluster.nodes()) {
    if (seen++ == kNodesForKeys) break;
    for (const auto& [label, value] : node->meta.labels) keys.insert(label.str());
  }
  const std::string near = nearest_name(key.view(), {keys.begin(), keys.end()});
  return near.empty() ? near : fmt::format("; did you mean {}?", near);
}

std::string told(const SelectorRequirement& r) {
  if (r.op == SelectorOperator::kIn && r.values.size() == 1)
    return fmt::format("{}={}", r.key.view(), r.values.front().view());
  return format(LabelSelector{.match_labels = {}, .match_expressions = {r}});
}

// For a requirement that no node meets.
std::string missing(const SelectorRequirement& r, const ClusterState& cluster) {
  const std::map<std::string, int> values = values_of(r.key, cluster);
  if (values.empty())
    return fmt::format("no node has label {}{}", r.key.view(), key_instead(r.key, cluster));
  if (r.op != SelectorOperator::kIn || r.values.empty())
    return fmt::format("no node has {}", told(r));
  return fmt::format("no node has {}; {}", told(r), values_instead(r.values.front().str(), values));
}

std::string counted(const std::pair<std::string, int>& value) {
  return fmt::format("{} {} ={}", value.second, value.second == 1 ? "has" : "have", value.first);
}

}  // namespace

std::string values_instead(const std::string& wanted, const std::map<std::string, int>& values) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> names;
  for (const auto& [value, nodes] : values) names.push_back(value);
  if (const std::string near = nearest_name(wanted, names); !near.empty())
    return counted({near, values.at(near)});
  std::vector<std::pair<std::string, int>> most(values.begin(), values.end());
  std::ranges::stable_sort(most, std::greater<>(), [](const auto& value) { return value.second; });
  if (most.size() > kNamed) most.resize(kNamed);
  std::vector<std::string> counts;
  for (const auto& value : most) counts.push_back(counted(value));
  return fmt::format("{}", fmt::join(counts, ", "));
}

std::string why_none_matches(const LabelSelector& selector, const ClusterState& cluster) {
  if (cluster.nodes().size() == 0) return "there are no nodes";
  for (const SelectorRequirement& r : requirements_of(selector))
    if (std::ranges::none_of(cluster.nodes(),
                             [&](const auto& node) { return matches(r, node->meta.labels); }))
      return missing(r, cluster);
  return fmt::format("no node has all of {}", format(selector));
}

}  // namespace berth
