// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/node_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apis/base/nearest_name.h"
#include "controller/explain/node_groups.h"

namespace berth {
namespace {

// No real node has more GPUs or partitions of them; a larger number is not trusted.
constexpr std::int64_t kMostTried = 1024;

std::string nearest_value(const ClusterState& cluster, const Unmet& unmet) {
  std::set<std::string> values;
  for (const auto& node : cluster.nodes())
    if (const Text* value = node->meta.labels.find(unmet.key)) values.insert(value->str());
  return nearest_name(unmet.value, {values.begin(), values.end()});
}

std::string line_of(const StringMap& selector) {
  std::vector<std::string> words;
  for (const auto& [key, value] : selector)
    words.push_back(fmt::format("{}: {}", key.view(), value.view()));
  return fmt::format("nodeSelector: {{{}}}", fmt::join(words, ", "));
}

bool is_of_selector(const Unmet& unmet) { return unmet.asked.starts_with("nodeSelector "); }

// All requirements of the pod that this node's labels do not meet; removes them from `pod`.
std::vector<Unmet> drop_unmet(const Node& node, Pod& pod) {
  std::vector<Unmet> all;
  while (!selects(pod, node)) {
    all.push_back(unmet_of(pod, node));
    if (is_of_selector(all.back()))
      pod.shape.edit()->node_selector.erase(all.back().key);
    else
      pod.shape.edit()->required_node_affinity.clear();
  }
  return all;
}

// Removes the pod's requirements that this node's labels do not meet, and records the value that
// the user probably meant.
void mend_selection(const ClusterState& cluster, const Node& node, Pod& pod, NodeEdits& out) {
  StringMap selector = pod.shape->node_selector;
  const std::vector<Unmet> all = drop_unmet(node, pod);
  std::vector<std::string> asked, found;
  for (const Unmet& unmet : all) {
    asked.push_back(unmet.asked);
    found.push_back(unmet.found);
  }
  out.select = Unmet{.asked = fmt::format("{}", fmt::join(asked, " and ")),
                     .found = fmt::format("{}", fmt::join(found, ", "))};
  if (all.size() != 1 || all.front().key.empty()) return;
  const Text* here = node.meta.labels.find(all.front().key);
  if (here == nullptr || nearest_value(cluster, all.front()) != here->view()) return;
  out.meant = here->str();
  if (!is_of_selector(all.front())) return;
  selector.set(Text(all.front().key), *here);
  out.selector_line = line_of(selector);
}

// A smaller count helps only if GPUs are the only shortage.
void mend_count(const Fit& fit, const Node& node, Pod& pod, NodeEdits& out) {
  const Text resource = Fit::gpu_resource_of(pod);
  if (resource.empty()) return;
  const std::int64_t asked = pod.shape->requests.get(resource).rounded_up();
  const std::int64_t free = fit.free_on(node.meta.name, resource).as_whole().value_or(0);
  const std::int64_t count = std::min({asked - 1, free, kMostTried});
  if (count < 1) return;
  Pod less = pod;
  less.shape.edit()->requests.set(resource, Quantity::whole(count));
  if (!fit.fits(less, node.meta.name)) return;
  pod = std::move(less);
  out.count = count;
}

}  // namespace

std::optional<NodeEdits> edits_for(const ClusterState& cluster, const Fit& fit, const Pod& pod,
                                   const Node& node) {
  if (!node.ready || node.cordoned()) return std::nullopt;
  NodeEdits out{.node = &node};
  Pod edited = pod;
  if (!selects(edited, node)) mend_selection(cluster, node, edited, out);
  out.tolerate = untolerated(edited, node);
  if (std::ranges::any_of(out.tolerate, is_kubernetes_own)) return std::nullopt;
  for (const Taint& taint : out.tolerate)
    edited.shape.edit()->tolerations.push_back(
        {.key = taint.key, .op = "Equal", .value = taint.value, .effect = taint.effect});
  if (!fit.fits(edited, node.meta.name)) mend_count(fit, node, edited, out);
  const std::vector<Fit::Verdict> left = fit.obstacles(edited, node.meta.name);
  if (std::ranges::find(left, Fit::Verdict::kLacksGpu) != left.end()) return std::nullopt;
  if (!left.empty()) out.besides = "full";
  if (out.size() == 0) return std::nullopt;
  return out;
}

}  // namespace berth
