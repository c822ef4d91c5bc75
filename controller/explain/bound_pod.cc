// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/bound_pod.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/printable.h"
#include "apis/base/reasons.h"
#include "controller/disruption/leaving_outlook.h"
#include "controller/explain/cuda_why.h"
#include "controller/explain/kubelet_words.h"
#include "controller/explain/lost_pods.h"
#include "controller/explain/memory_why.h"
#include "controller/explain/node_groups.h"
#include "controller/fleet/fit.h"
#include "controller/fleet/recut.h"
#include "controller/mig/overlap.h"
#include "controller/mig/rollout_choice.h"
#include "controller/preview/eligible.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

ResourceList gpus_of(const ResourceList& resources) {
  ResourceList gpus;
  for (const auto& [name, count] : gpus_in(resources)) gpus.set(name, count);
  return gpus;
}

void note_host(const Snapshot& snapshot, const Pod& pod, const Node& node, Explanation& out) {
  if (pod.start_time) out.add("since", fmt::format("started {}", format_time(*pod.start_time)));
  const GPUClusterPolicy* policy = find_policy(snapshot.cluster);
  const PoolSpec* pool = policy != nullptr ? pool_of(*policy, node) : nullptr;
  if (pool == nullptr) return;
  std::string text = pool->name;
  if (pool->sharing.strategy != SharingStrategy::kNone)
    text += fmt::format(", whose GPUs are shared by {} pods each ({})", pool->sharing.replicas,
                        to_string(pool->sharing.strategy));
  out.add("pool", text);
  if (!eligible(snapshot.cluster, *pool, pod.meta.namespace_.view())) {
    out.reason = reasons::kNotEligible;
    out.add("pool",
            fmt::format("namespace {} may not use it: it is for namespaces with {}",
                        pod.meta.namespace_.view(), format(*pool->eligible_namespaces)),
            reasons::kNotEligible);
  }
  std::vector<Taint> taints = untolerated(pod, node);
  std::erase_if(taints, is_kubernetes_own);
  if (!taints.empty())
    out.add("taint",
            fmt::format("does not tolerate {}: it stays, but would not be placed there again",
                        format(taints.front())),
            "Tainted");
}

// Whether its node's GPUs will be repartitioned, and what that means for the pod.
void note_drain(const Snapshot& snapshot, const Pod& pod, const Node& node, Explanation& out) {
  const LayoutOwners owners(snapshot.cluster);
  const MIGLayout* owner = owners.owner_of(node);
  if (owner == nullptr) return;
  const auto nodes = decide_rollout(snapshot, *owner).nodes;
  const auto standing = std::ranges::find(nodes, &node, &NodeStanding::node);
  if (standing == nodes.end() || standing->bucket == NodeBucket::kUpdated) return;
  out.add("rollout",
          fmt::format("MIGLayout/{} will repartition {}: {}{}{}", owner->meta.name, node.meta.name,
                      standing->phase, standing->cause.reason.empty() ? "" : ", ",
                      standing->cause.reason),
          standing->cause.reason);
  for (const PodVerdict& verdict : pods_leaving(snapshot, node, owner->spec.drain)) {
    if (verdict.pod != &pod) continue;
    switch (verdict.fate) {
      case PodFate::kEvict:
      case PodFate::kRequeue: {
        const LeavingOutlook outlook = leaving_outlook(snapshot, verdict);
        if (outlook.kind == EvictionOutlook::Kind::kNo)
          out.add("drain", "it would have to leave, and may not: " + outlook.cause.message,
                  outlook.cause.reason);
        else if (verdict.fate == PodFate::kEvict)
          out.add("drain", "it will be evicted when the node's turn comes",
                  reasons::kWillBeEvicted);
        else
          out.add("drain",
                  fmt::format("Job {} will be suspended when the node's turn comes, and waits in "
                              "its queue again",
                              verdict.job->meta.name),
                  reasons::kWillBeRequeued);
        break;
      }
      case PodFate::kBlocked:
        out.add("drain", "it would have to leave, and may not: " + verdict.cause.message,
                verdict.cause.reason);
        break;
      case PodFate::kAwaited:
        out.add("drain", "the layout waits for its end");
        break;
      case PodFate::kTerminating:
      case PodFate::kLeftAlone:
        break;
    }
  }
}

// The same warning as on the pod (docs/observe.md).
void note_idle(const Snapshot& snapshot, const Pod& pod, const Node& node, Explanation& out) {
  const Text* since = pod.meta.annotations.find(names::kIdleSinceAnnotation);
  if (since == nullptr) return;
  std::string text = fmt::format("its GPUs have been idle since {}", printable(since->view()));
  const Text* from = pod.meta.annotations.find(names::kReclaimAfterAnnotation);
  const GPUClusterPolicy* policy = find_policy(snapshot.cluster);
  if (from != nullptr && policy != nullptr)
    text += policy->spec.idle.policy == IdlePolicy::kAlways
                ? fmt::format("; they are taken back at {}", printable(from->view()))
                : fmt::format("; from {} on they may be taken back for work that waits",
                              printable(from->view()));
  const std::string could_be = describe_recuts(node, pod);
  if (!could_be.empty()) text += "; " + could_be;
  out.add("idle", text, reasons::kGpusIdle);
}

const char* state_of(const Pod& pod) {
  if (pod.terminating()) return "Terminating";
  return pod.phase == PodPhase::kRunning ? "Running" : "Starting";
}

}  // namespace

void explain_bound(const Snapshot& snapshot, const Pod& pod, const Clues& clues, Explanation& out) {
  const std::string name = pod.node_name.str();
  const std::string held = format(gpus_of(pod.shape->requests));
  out.state = state_of(pod);
  out.message =
      fmt::format("it is on {} and holds {}", name, held.empty() ? "no GPU resource" : held);
  if (pod.terminating())
    out.message = fmt::format("it is on its way out of {}; until it is gone it holds {}", name,
                              held.empty() ? "no GPU resource" : held);
  explain_lost(snapshot, pod, out);
  const Node* node = snapshot.cluster.nodes().find(name);
  if (node == nullptr && !clues.knows("nodes")) return;
  if (node == nullptr) {
    out.reason = reasons::kNodeGone;
    out.message += "; there is no such node any more";
    return;
  }
  note_host(snapshot, pod, *node, out);
  note_start(pod, out);
  note_cuda(pod, clues.of(pod), {node}, out);
  note_memory(snapshot, pod, {node}, out);
  note_idle(snapshot, pod, *node, out);
  note_drain(snapshot, pod, *node, out);
}

}  // namespace berth
