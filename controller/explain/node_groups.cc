// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/node_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "apis/base/names.h"
#include "controller/disruption/rollouts.h"
#include "controller/explain/cordon.h"
#include "controller/explain/unmet.h"
#include "controller/fleet/allocatable.h"
#include "controller/mig/overlap.h"
#include "controller/mig/rollout_choice.h"
#include "controller/mig/target.h"
#include "controller/preview/eligible.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

using Verdict = Fit::Verdict;

bool has(const std::vector<Verdict>& verdicts, Verdict verdict) {
  return std::ranges::find(verdicts, verdict) != verdicts.end();
}

// A taint that repeats a fact from the node's own fields.
bool says_the_same(const Taint& taint, const Node& node) {
  if (taint.key == "node.kubernetes.io/unschedulable") return node.cordoned();
  return !node.ready && (taint.key == "node.kubernetes.io/not-ready" ||
                         taint.key == "node.kubernetes.io/unreachable");
}

std::string join(const std::vector<Taint>& taints) {
  std::string text;
  for (const Taint& taint : taints) text += (text.empty() ? "" : ", ") + format(taint);
  return text;
}

class Grouping {
 public:
  Grouping(const Snapshot& snapshot, const Fit& fit, const Pod& pod, const Clues& clues)
      : snapshot_(snapshot),
        fit_(fit),
        pod_(pod),
        clues_(clues),
        policy_(find_policy(snapshot.cluster)) {}
  std::vector<NodeGroup> run();

 private:
  NodeGroup judge(const Node& node, std::vector<Verdict>& left);
  std::optional<NodeGroup> coming(const Node& node, const std::vector<Verdict>& left);
  std::string shortage(const Node& node, bool of_all) const;
  // Otherwise it is unknown what a layout waits for.
  bool knows_agents() const {
    return clues_.knows("daemonsets.apps") && clues_.knows("configmaps");
  }
  const std::map<std::string, NodeStanding>& standings();

  const Snapshot& snapshot_;
  const Fit& fit_;
  const Pod& pod_;
  const Clues& clues_;
  const GPUClusterPolicy* policy_;
  const LayoutOwners owners_{snapshot_.cluster};
  std::optional<std::map<std::string, NodeStanding>> standings_;
  std::map<const MIGLayout*, std::unique_ptr<TargetResolver>> resolvers_;
};

std::vector<NodeGroup> Grouping::run() {
  std::vector<NodeGroup> groups;
  for (const auto& node : snapshot_.cluster.nodes()) {
    std::vector<Verdict> left = fit_.obstacles(pod_, node->meta.name);
    NodeGroup group = judge(*node, left);
    auto same = std::ranges::find_if(
        groups, [&](const NodeGroup& g) { return g.fate == group.fate && g.words == group.words; });
    if (same == groups.end()) same = groups.insert(groups.end(), std::move(group));
    same->nodes.push_back(node->meta.name);
    if (left.empty()) same->only.push_back(node->meta.name);
    same->besides.insert(left.begin(), left.end());
  }
  std::ranges::stable_sort(groups, [](const NodeGroup& a, const NodeGroup& b) {
    return std::make_pair(a.fate, b.nodes.size()) < std::make_pair(b.fate, a.nodes.size());
  });
  return groups;
}

// The deciding obstacle; removes it from `left`.
NodeGroup Grouping::judge(const Node& node, std::vector<Verdict>& left) {
  const auto take = [&](std::initializer_list<Verdict> verdicts) {
    std::erase_if(left,
                  [&](Verdict v) { return std::ranges::find(verdicts, v) != verdicts.end(); });
  };
  std::vector<Taint> taints = untolerated(pod_, node);
  std::erase_if(taints, [&](const Taint& taint) { return says_the_same(taint, node); });
  if (taints.empty()) take({Verdict::kTainted});
  if (left.empty())
    return {.fate = NodeFate::kFits,
            .words = knows_room(clues_, pod_)
                         ? "would take it now"
                         : "would take it by labels, taints and size; what other pods hold there "
                           "is not read"};
  if (std::optional<NodeGroup> group = coming(node, left)) {
    take({Verdict::kCordoned, Verdict::kLacksGpu, Verdict::kFull});
    return *std::move(group);
  }
  if (has(left, Verdict::kLacksGpu))
    return {.fate = NodeFate::kLacksGpu, .words = shortage(node, true)};
  // No toleration or selector of the pod makes the node larger, so other obstacles do not matter.
  if (std::string too_small = shortage(node, true); !too_small.empty()) {
    left.clear();
    return {.fate = NodeFate::kTooSmall, .words = std::move(too_small)};
  }
  if (has(left, Verdict::kNotReady)) {
    take({Verdict::kNotReady});
    return {.fate = NodeFate::kNotReady, .words = "not Ready"};
  }
  if (has(left, Verdict::kCordoned)) {
    take({Verdict::kCordoned});
    return {.fate = NodeFate::kCordoned, .words = told_cordon(snapshot_, node, clues_)};
  }
  const PoolSpec* pool = policy_ != nullptr ? pool_of(*policy_, node) : nullptr;
  const bool kept_off = has(left, Verdict::kTainted) || has(left, Verdict::kNotSelected);
  if (pool != nullptr && kept_off &&
      !eligible(snapshot_.cluster, *pool, pod_.meta.namespace_.view())) {
    take({Verdict::kTainted, Verdict::kNotSelected});
    std::string words = fmt::format("of pool {}, which is for namespaces with {}", pool->name,
                                    format(*pool->eligible_namespaces));
    const Pod written = as_written(pod_);
    if (selects(written, node))
      return {.fate = NodeFate::kNotEligible, .words = std::move(words), .pool = pool};
    Unmet unmet = unmet_of(written, node);
    words += ", and " + told(unmet);
    return {.fate = NodeFate::kNotEligible,
            .words = std::move(words),
            .pool = pool,
            .unmet = unmet.asked,
            .offered = unmet.found};
  }
  if (has(left, Verdict::kNotSelected)) {
    take({Verdict::kNotSelected});
    Unmet unmet = unmet_of(pod_, node);
    return {.fate = NodeFate::kNotSelected,
            .words = told(unmet),
            .unmet = unmet.asked,
            .offered = unmet.found};
  }
  if (has(left, Verdict::kTainted)) {
    take({Verdict::kTainted});
    if (std::ranges::any_of(taints, is_kubernetes_own))
      return {.fate = NodeFate::kTroubled,
              .words = fmt::format("unhealthy: Kubernetes set taint {}", join(taints))};
    return {.fate = NodeFate::kTainted,
            .words = fmt::format("tainted {}, which it does not tolerate", join(taints))};
  }
  take({Verdict::kFull});
  return {.fate = NodeFate::kFull, .words = shortage(node, false)};
}

// A node that is out of service for a layout, or that waits for one and will offer the resource.
std::optional<NodeGroup> Grouping::coming(const Node& node, const std::vector<Verdict>& left) {
  const RolloutRecord record = read_rollout(snapshot_.cluster, node);
  const bool out = node.cordoned() && !record.idle();
  if (!out && !has(left, Verdict::kLacksGpu)) return std::nullopt;
  const auto standing = standings().find(node.meta.name);
  if (standing == standings().end() || standing->second.bucket == NodeBucket::kUpdated ||
      standing->second.bucket == NodeBucket::kFailed)
    return std::nullopt;
  const MIGLayout* owner = owners_.owner_of(node);
  std::unique_ptr<TargetResolver>& resolver = resolvers_[owner];
  if (!resolver) resolver = std::make_unique<TargetResolver>(snapshot_.cluster, *owner);
  const Target& target = resolver->resolve(node);
  if (!target.ok()) return std::nullopt;
  const auto offer =
      expected_allocatable(target.layout, target.strategy, read_sharing(node.meta.labels));
  bool enough = true;
  for (const auto& [resource, count] : gpus_in(pod_.shape->requests)) {
    auto offered = offer.find(resource.str());
    enough &= offered != offer.end() && Quantity::whole(offered->second) >= count;
  }
  if (!enough && !out) return std::nullopt;
  if (!enough)
    return NodeGroup{.fate = NodeFate::kLeaving,
                     .words = fmt::format("{}; will not offer enough of {} then",
                                          told_cordon(snapshot_, node, clues_),
                                          Fit::gpu_resource_of(pod_).view())};
  const NodeStanding& s = standing->second;
  std::string words =
      out ? told_cordon(snapshot_, node, clues_)
          : fmt::format(
                "to be repartitioned for MIGLayout/{}{}; will offer it then", owner->meta.name,
                knows_agents() ? fmt::format(" ({}{}{})", s.phase,
                                             s.cause.reason.empty() ? "" : ", ", s.cause.reason)
                               : "");
  return NodeGroup{.fate = NodeFate::kComing, .words = std::move(words)};
}

// Requests that the node can't meet: with its total capacity, or with its free capacity.
std::string Grouping::shortage(const Node& node, bool of_all) const {
  std::vector<std::string> words;
  for (const auto& [resource, count] : pod_.shape->requests) {
    if (count.is_zero()) continue;
    const Quantity all = node.allocatable.get(resource);
    if (is_gpu_resource(resource) && all.is_zero())
      return fmt::format("without {}", resource.view());
    if (of_all && all < count)
      words.push_back(fmt::format("{} of {} {}", all.str(), count.str(), resource.view()));
    if (!of_all && fit_.free_on(node.meta.name, resource) < count)
      words.push_back(std::string(resource.view()));
  }
  if (of_all)
    return words.empty() ? std::string() : fmt::format("too small: has {}", fmt::join(words, ", "));
  return fmt::format("full: not enough {} left",
                     words.empty() ? "room for pods" : fmt::format("{}", fmt::join(words, ", ")));
}

const std::map<std::string, NodeStanding>& Grouping::standings() {
  if (standings_) return *standings_;
  standings_.emplace();
  for (const auto& layout : snapshot_.cluster.mig_layouts())
    for (NodeStanding& standing : decide_rollout(snapshot_, *layout).nodes)
      (*standings_)[standing.node->meta.name] = std::move(standing);
  return *standings_;
}

}  // namespace

std::vector<NodeGroup> group_nodes(const Snapshot& snapshot, const Fit& fit, const Pod& pod,
                                   const Clues& clues) {
  return Grouping(snapshot, fit, pod, clues).run();
}

bool knows_room(const Clues& clues, const Pod& pod) {
  return clues.knows("pods") && !Fit::gpu_resource_of(pod).empty();
}

bool is_kubernetes_own(const Taint& taint) {
  return taint.key.view().starts_with("node.kubernetes.io/") ||
         taint.key.view().starts_with("node.cloudprovider.kubernetes.io/") ||
         taint.key == "ToBeDeletedByClusterAutoscaler";
}

}  // namespace berth
