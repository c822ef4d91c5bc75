// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/idle_pods.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/plural.h"
#include "controller/core/seeded_bugs.h"
#include "controller/observe/gpu_use.h"

namespace berth {
namespace {

std::string key_of(const Pod& pod) { return pod.meta.namespace_.str() + "/" + pod.meta.name; }

bool takes_back(const IdleSpec& idle) {
  return idle.policy == IdlePolicy::kOnPressure || idle.policy == IdlePolicy::kAlways;
}

bool is_systems_own(std::string_view name, const GPUClusterPolicy& policy,
                    const Settings& settings) {
  return std::ranges::find(names::kSystemNamespaces, name) != std::end(names::kSystemNamespaces) ||
         name == settings.berth_namespace || name == settings.agents_namespace ||
         name == policy.spec.agents.namespace_;
}

// Surveys each node once, for all of its pods.
class IdleOnNodes {
 public:
  IdleOnNodes(const Snapshot& snapshot, const GPUClusterPolicy& policy)
      : snapshot_(snapshot), policy_(policy) {}

  std::optional<Time> since(const Pod& pod) {
    const auto [uses, fresh] = seen_.try_emplace(pod.node_name);
    if (fresh) {
      const Node* node = snapshot_.cluster.nodes().find(pod.node_name.view());
      if (node != nullptr) uses->second = survey_node(snapshot_, policy_, *node);
    }
    const auto use = std::ranges::find(uses->second, &pod, &PodUse::pod);
    const bool idle = use != uses->second.end() && use->standing == UseState::kIdle;
    return idle ? use->since : std::nullopt;
  }

 private:
  const Snapshot& snapshot_;
  const GPUClusterPolicy& policy_;
  std::map<Text, std::vector<PodUse>> seen_;
};

}  // namespace

std::optional<Time> reclaim_after(const Pod& pod) {
  const Text* told = pod.meta.annotations.find(names::kReclaimAfterAnnotation);
  if (told == nullptr || !pod.meta.annotations.contains(names::kIdleSinceAnnotation))
    return std::nullopt;
  const Result<Time> time = parse_time(told->view());
  return time ? std::optional(*time) : std::nullopt;
}

bool may_lose_gpus(const GPUClusterPolicy& policy, const Settings& settings, const Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  const bool remade = owner != nullptr && owner->kind != "DaemonSet" && owner->kind != "Node";
  return takes_back(policy.spec.idle) && remade && !is_excluded(policy.spec.idle, pod) &&
         !pod.meta.annotations.contains(names::kMirrorAnnotation) &&
         !is_systems_own(pod.meta.namespace_.view(), policy, settings);
}

std::vector<IdlePod> find_idle_pods(const Snapshot& snapshot, const GPUClusterPolicy& policy) {
  std::vector<IdlePod> found;
  if (!takes_back(policy.spec.idle) || !snapshot.samples.measured_at) return found;
  IdleOnNodes idle(snapshot, policy);
  for (const auto& [key, pod] : snapshot.cluster.view<WarnedPods>().all()) {
    const std::optional<Time> due = reclaim_after(*pod);
    if (!due || pod->terminating() || !may_lose_gpus(policy, snapshot.settings, *pod)) continue;
    const auto since = idle.since(*pod);
    if (since && is_confirmed(snapshot, policy, *pod))
      found.push_back({pod, *since, seeded(SeededBug::kForgetWarning) ? *since : *due});
  }
  return found;
}

bool is_confirmed(const Snapshot& snapshot, const GPUClusterPolicy& policy, const Pod& pod) {
  const Node* node = snapshot.cluster.nodes().find(pod.node_name.view());
  return node != nullptr && why_not_confirmed(snapshot, policy, *node, pod).empty();
}

std::optional<Cause> idle_not_confirmed(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                        const GpuUse& use) {
  std::int64_t kept = 0;
  std::string first;
  bool silent = false;
  for (const PodUse& each : use.pods) {
    const Node* node = snapshot.cluster.nodes().find(each.pod->node_name.view());
    if (each.standing != UseState::kIdle || node == nullptr ||
        !may_lose_gpus(policy, snapshot.settings, *each.pod))
      continue;
    const std::string why = why_not_confirmed(snapshot, policy, *node, *each.pod);
    if (why.empty() || kept++ > 0) continue;
    const Witness* witness = snapshot.samples.witness_of(node->meta.name);
    silent = witness == nullptr || !witness->silence.empty();
    first = fmt::format("{} (exporter of node {}: {})", key_of(*each.pod), node->meta.name, why);
  }
  if (kept == 0) return std::nullopt;
  return Cause{
      silent ? reasons::kExporterSilent : reasons::kExporterDisagrees,
      fmt::format("{} {} GPUs that look idle, as the exporter of the node does not confirm "
                  "it: {}{}",
                  plural(kept, "pod"), word_for(kept, "keeps", "keep"), first,
                  kept > 1 ? ", …" : "")};
}

void WarnedPods::follow(const Change<Pod>& change) {
  const auto is_warned = [](const Pod* pod) {
    return pod != nullptr && !pod->finished() &&
           pod->meta.annotations.contains(names::kReclaimAfterAnnotation);
  };
  if (is_warned(change.now))
    all_[key_of(*change.now)] = change.now;
  else if (is_warned(change.old))
    all_.erase(key_of(*change.old));
}

}  // namespace berth
