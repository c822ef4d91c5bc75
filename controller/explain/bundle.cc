// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "controller/preview/words.h"

namespace berth {
namespace {

std::string toleration_for(const Taint& taint) {
  if (taint.value.empty())
    return fmt::format("{{key: {}, operator: Exists, effect: {}}}", taint.key.view(),
                       taint.effect.view());
  return fmt::format("{{key: {}, operator: Equal, value: \"{}\", effect: {}}}", taint.key.view(),
                     taint.value.view(), taint.effect.view());
}

std::string key_of(const NodeEdits& edits) {
  std::string key = edits.besides + "|";
  if (edits.select)
    key += fmt::format("{}|{}", edits.select->asked,
                       edits.meant.empty() ? edits.select->found : edits.meant);
  for (const Taint& taint : edits.tolerate) key += "|" + format(taint);
  return fmt::format("{}|{}", key, edits.count);
}

// "drop nodeSelector tier=a, or ask for what n1 has: tier=b, and tolerate the taint".
std::string told_edits(const Bundle& bundle) {
  const NodeEdits& edits = bundle.edits;
  const char* taint = edits.tolerate.size() > 1 ? "taints" : "taint";
  std::vector<std::string> also;
  if (!edits.tolerate.empty())
    also.push_back(fmt::format("tolerate the {}{}", taint,
                               edits.size() == 1 ? ": write into the pod's spec" : ""));
  if (edits.count > 0) also.push_back("ask for less");
  std::string text;
  if (edits.select && !edits.meant.empty())
    text = fmt::format("{}: did you mean {}?", edits.select->asked, edits.meant);
  else if (edits.select)
    text = fmt::format("drop {}, or ask for what {} {}: {}", edits.select->asked,
                       name_some(bundle.nodes), bundle.nodes.size() == 1 ? "has" : "have",
                       edits.select->found);
  if (also.empty()) return text;
  const std::string rest = fmt::format("{}", fmt::join(also, ", and "));
  if (text.empty()) return rest;
  return text.ends_with('?') ? fmt::format("{} Write that, and {}", text, rest)
                             : fmt::format("{}, and {}", text, rest);
}

}  // namespace

std::vector<Bundle> bundles_of(const ClusterState& cluster, const Fit& fit, const Pod& pod,
                               const std::vector<NodeGroup>& groups) {
  std::vector<Bundle> bundles;
  std::map<std::string, std::size_t> seen;
  for (const NodeGroup& group : groups) {
    if (group.fate != NodeFate::kTainted && group.fate != NodeFate::kNotSelected &&
        group.fate != NodeFate::kFull && group.fate != NodeFate::kTooSmall)
      continue;
    for (const std::string& name : group.nodes) {
      const Node* node = cluster.nodes().find(name);
      std::optional<NodeEdits> edits = edits_for(cluster, fit, pod, *node);
      if (!edits) continue;
      const auto [place, fresh] = seen.try_emplace(key_of(*edits), bundles.size());
      if (fresh) bundles.push_back({*std::move(edits), {}});
      bundles[place->second].nodes.push_back(name);
    }
  }
  std::ranges::stable_sort(bundles, {}, [](const Bundle& b) {
    return std::make_tuple(!b.edits.suffices(), b.edits.size(), b.edits.count > 0,
                           b.edits.meant.empty(), -b.edits.count);
  });
  return bundles;
}

std::string lines_of(const NodeEdits& edits, const Pod& pod) {
  std::vector<std::string> lines, tolerations;
  if (!edits.selector_line.empty()) lines.push_back(edits.selector_line);
  for (const Taint& taint : edits.tolerate) tolerations.push_back(toleration_for(taint));
  if (!tolerations.empty())
    lines.push_back(fmt::format("tolerations: [{}]", fmt::join(tolerations, ", ")));
  if (edits.count > 0)
    lines.push_back(fmt::format("{}: {}", Fit::gpu_resource_of(pod).view(), edits.count));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string told(const Bundle& bundle) {
  const std::string text = told_edits(bundle);
  const NodeEdits& edits = bundle.edits;
  const bool question = text.ends_with('?');
  const std::string names = name_some(bundle.nodes);
  if (!edits.suffices())
    return fmt::format("{}{} that alone is not enough: {} {} also {}", text,
                       question ? " But" : ";", names, bundle.nodes.size() == 1 ? "is" : "are",
                       edits.besides);
  if (edits.size() == 1 && edits.count > 0) return fmt::format("{}: {} would take it", text, names);
  return fmt::format("{}{} {} would take it", text, question ? " Then" : "; then", names);
}

}  // namespace berth
