// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/remakers.h"

#include <fmt/format.h>

#include "controller/core/seeded_bugs.h"

namespace berth::queue {
namespace {

// kubeflow/training-operator, pkg/apis/kubeflow.org/v1/common_types.go: ReplicaTypeLabel.
constexpr std::string_view kReplicaType = "training.kubeflow.org/replica-type";

// Others than Kubernetes have kinds of that name, such as Volcano.
bool is_batch_job(const OwnerReference& owner) {
  const std::string_view version = owner.api_version.view();
  const bool of_core = version.find('/') == std::string_view::npos;
  return owner.kind == "Job" && (of_core || version.starts_with("batch/"));
}

// Without a node a pod has not begun: its deletion is no failure, and it is created again.
bool needs_a_look(const OwnerKind& kind, const berth::Pod& pod) {
  if (pod.node_name.empty() || kind.then == AfterEviction::kRecreates) return false;
  return kind.then != AfterEviction::kByPolicy || pod.never_restarts;
}

}  // namespace

Remaking Remakers::judge(const berth::Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr) return {fmt::format("nobody would make pod {} anew", pod.meta.name)};
  if (is_batch_job(*owner)) return {why_job_fails(pod, *owner)};
  if (seeded(SeededBug::kTrustEveryOwner)) return {};
  const OwnerKind* kind = find_owner_kind(*owner);
  if (kind != nullptr) return {"", needs_a_look(*kind, pod) ? kind : nullptr};
  return {pod.never_restarts ? why_unknown_owner_keeps(owned_pod(pod)) : ""};
}

std::string Remakers::why_job_fails(const berth::Pod& pod, const OwnerReference& owner) {
  const berth::Job* job = cluster_.jobs().find(pod.meta.namespace_.view(), owner.name.view());
  if (job != nullptr && job->ignores_disruptions) return "";
  if (job != nullptr && job->failed + ++failures_[job] <= job->backoff_limit) return "";
  return fmt::format("Job {} would fail of the eviction", owner.name.view());
}

OwnedPod owned_pod(const berth::Pod& pod) {
  const Text* role = pod.meta.labels.find(kReplicaType);
  return {pod.meta.namespace_.str(), pod.meta.name, *pod.meta.controller(),
          role == nullptr ? "" : role->str()};
}

}  // namespace berth::queue
