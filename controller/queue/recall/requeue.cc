// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/recall/requeue.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "apis/base/names.h"
#include "controller/core/annotation_room.h"
#include "controller/core/merge_patch.h"
#include "controller/core/removal_grace.h"
#include "controller/core/seeded_bugs.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/index/named.h"

namespace berth::queue {
namespace {

const FactsIndex& facts_of(const ClusterState& cluster) {
  return cluster.view<ClusterIndex>().facts();
}

bool is_of(const berth::Pod& pod, const berth::Job& job) {
  const OwnerReference* owner = pod.meta.controller();
  return owner != nullptr && owner->uid.view() == job.meta.uid;
}

}  // namespace

Write suspend_job(const berth::Job& job, std::string reason, std::string_view preempted) {
  MergePatch patch = MergePatch::same_version(job.meta);
  patch.field("spec", R"({"suspend":true})");
  if (!preempted.empty() && has_room_for(job.meta, names::kPreemptedAnnotation, preempted))
    patch.annotation(names::kPreemptedAnnotation, preempted);
  return {.verb = Verb::kMergePatch,
          .object = ref_of(job),
          .body = patch.str(),
          .field_manager = names::kManagerQueue,
          .reason = std::move(reason)};
}

// A pod on no node has not started, so its controller loses nothing. The resourceVersion ensures
// that the pod is still on no node when the eviction arrives.
Write evict_pod(const berth::Pod& pod, std::string reason) {
  return {.verb = Verb::kEvict,
          .object = ref_of(pod),
          .body = {},
          .field_manager = names::kManagerQueue,
          .reason = std::move(reason),
          .grace_period_seconds = removal_grace(pod),
          .resource_version = pod.node_name.empty() ? pod.meta.resource_version : ""};
}

// Ignores budgets, but keeps the pod's own grace period.
Write delete_pod(const berth::Pod& pod, std::string reason) {
  Write write = evict_pod(pod, std::move(reason));
  write.verb = Verb::kDelete;
  return write;
}

Ask ask_to_evict(const berth::Pod& pod) { return {ref_of(pod), pod.meta.resource_version}; }

const Answer* eviction_answer(const Snapshot& snapshot, const berth::Pod& pod) {
  return snapshot.answers.find(question(ask_to_evict(pod)), snapshot.now,
                               snapshot.settings.answer_ttl);
}

const berth::Job* requeued_with(const ClusterState& cluster, const berth::Pod& pod) {
  // A cluster without queues does not need the index.
  const OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr || owner->kind != "Job" || cluster.gpu_queues().size() == 0) return nullptr;
  const berth::Job* job = cluster.jobs().find(pod.meta.namespace_.view(), owner->name.view());
  if (job == nullptr || !is_of(pod, *job)) return nullptr;
  const Workload* workload = facts_of(cluster).find(workload_name(pod));
  return workload == nullptr ? nullptr : requeued_of(cluster, *workload);
}

bool admits(const FactsIndex& facts, const std::string& queue) {
  const auto found = facts.queues().find(queue);
  return found != facts.queues().end() && !found->second.held;
}

const berth::Job* requeued_of(const ClusterState& cluster, const Workload& workload) {
  if (!workload.job || (workload.job->held && seeded(SeededBug::kSpareHeld))) return nullptr;
  const berth::Job* job = find_named(cluster.jobs(), *workload.name);
  if (job == nullptr || job->finished || job->meta.deletion_timestamp) return nullptr;
  const AdmissionFact* record = workload.job->admitted.get();
  const bool own = record != nullptr && record->uid == job->meta.uid;
  return own && admits(facts_of(cluster), record->queue) ? job : nullptr;
}

std::vector<const berth::Pod*> bound_pods(const ClusterState& cluster, const berth::Job& job) {
  std::vector<const berth::Pod*> pods;
  const FactsIndex& facts = facts_of(cluster);
  const Workload* workload = facts.find(workload_name(job));
  if (workload == nullptr || !workload->pods) return pods;
  std::vector<NodeId> nodes;
  for (const Pod* member : workload->pods->all)
    if (member->on_node()) nodes.push_back(member->node);
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  for (const NodeId node : nodes)
    for (const berth::Pod* pod : cluster.pods_on(facts.room().node_name(node)))
      if (is_of(*pod, job) && !pod->finished()) pods.push_back(pod);
  std::ranges::sort(pods, {},
                    [](const berth::Pod* pod) { return std::string_view(pod->meta.name); });
  return pods;
}

std::optional<Overdraft> find_overdraft(const ClusterState& cluster,
                                        const std::vector<const berth::Pod*>& pods) {
  for (const auto& budget : cluster.pod_disruption_budgets()) {
    const auto running = std::ranges::count_if(pods, [&](const berth::Pod* pod) {
      return pod->phase == PodPhase::kRunning && !pod->terminating() &&
             pod->meta.namespace_ == budget->meta.namespace_ && budget->selects(*pod);
    });
    const std::int64_t left = std::max<std::int64_t>(0, budget->current_healthy - running);
    if (running > 0 && left < budget->desired_healthy) return Overdraft{budget.get(), left};
  }
  return std::nullopt;
}

}  // namespace berth::queue
