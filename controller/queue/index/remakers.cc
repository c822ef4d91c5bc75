// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/index/remakers.h"

#include <fmt/format.h>

#include "controller/core/seeded_bugs.h"
#include "controller/queue/record/admission_record.h"

namespace berth::queue {
namespace {

// kubeflow/training-operator, pkg/apis/kubeflow.org/v1/common_types.go: ReplicaTypeLabel.
constexpr std::string_view kReplicaType = "training.kubeflow.org/replica-type";

// Other projects, for example Volcano, have a kind with this name too.
bool is_batch_job(const OwnerReference& owner) {
  const std::string_view version = owner.api_version.view();
  const bool of_core = version.find('/') == std::string_view::npos;
  return owner.kind == "Job" && (of_core || version.starts_with("batch/"));
}

// A pod without a node has not started. Its controller does not count its deletion as a failure and
// re-creates it.
bool needs_a_look(const OwnerKind& kind, const berth::Pod& pod) {
  if (pod.node_name.empty() || kind.then == AfterEviction::kRecreates) return false;
  return kind.then != AfterEviction::kByPolicy || pod.never_restarts;
}

// Whether the Job allows this many more failures.
bool stands(const berth::Job& job, std::int64_t failures) {
  return job.ignores_disruptions || job.failed + failures <= job.backoff_limit;
}

// The queue released the pod as one that this controller re-creates. A user may remove the
// controller or set another one. That does not make the pod one that has to stay.
bool has_lost_its_maker(const berth::Pod& pod, const AdmissionFact& record) {
  const OwnerReference* owner = pod.meta.controller();
  return !record.maker.empty() && (owner == nullptr || owner->uid.view() != record.maker);
}

bool has_lost_its_maker(const berth::Pod& pod) {
  const auto record = admission_on(pod);
  return record && has_lost_its_maker(pod, *record);
}

}  // namespace

Remaking Remakers::judge(const berth::Pod& pod) {
  if (has_lost_its_maker(pod)) return {};
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
  if (job != nullptr && stands(*job, ++failures_[job])) return "";
  return fmt::format("Job {} would fail of the eviction", owner.name.view());
}

// A gang is evicted as a whole, so all pods of a Job fail at once.
bool could_stay(const berth::Pod& pod, const berth::Job* job,
                const std::optional<AdmissionFact>& record) {
  if (record && has_lost_its_maker(pod, *record)) return false;
  const OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr) return true;
  if (is_batch_job(*owner)) return job == nullptr || !stands(*job, job->parallelism);
  const OwnerKind* kind = find_owner_kind(*owner);
  if (kind == nullptr) return pod.never_restarts;
  if (kind->then == AfterEviction::kByPolicy) return pod.never_restarts;
  return kind->then != AfterEviction::kRecreates;
}

OwnedPod owned_pod(const berth::Pod& pod) {
  const Text* role = pod.meta.labels.find(kReplicaType);
  return {pod.meta.namespace_.str(), pod.meta.name, *pod.meta.controller(),
          role == nullptr ? "" : role->str()};
}

}  // namespace berth::queue
