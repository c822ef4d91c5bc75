// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/index/facts_from.h"

#include <algorithm>

#include "apis/base/names.h"
#include "controller/core/ended_pods.h"
#include "controller/core/seeded_bugs.h"
#include "controller/fleet/gpu_weight.h"
#include "controller/fleet/node_facts.h"
#include "controller/queue/facts/leaving.h"
#include "controller/queue/index/dead_nodes.h"
#include "controller/queue/index/remakers.h"
#include "controller/queue/record/admission_record.h"
#include "controller/queue/record/gang_adapters.h"
#include "controller/queue/record/setback.h"

namespace berth::queue {

bool is_gated(const berth::Pod& pod) {
  const auto& gates = pod.shape->scheduling_gates;
  return std::ranges::find(gates, names::kQueueGate) != gates.end();
}

bool is_left_to_kueue(const ObjectMeta& meta) {
  return meta.labels.contains(names::kKueueQueueLabel) && !meta.labels.contains(names::kQueueLabel);
}

namespace {

TopologyWish wish_of(const ObjectMeta& meta) {
  const Text required = meta.annotations.get(names::kRequiredTopologyAnnotation);
  if (!required.empty()) return {.level = required.str(), .required = true};
  return {.level = meta.annotations.get(names::kPreferredTopologyAnnotation).str()};
}

// Limits the amounts of one pod and one node, so that sums over a fleet do not overflow.
constexpr std::int64_t kMostOfOne = 1'000'000'000'000'000;  // for example a petabyte in bytes

Amounts amounts_of(const ResourceList& list) {
  Amounts amounts;
  for (const auto& [name, quantity] : list) {
    const std::int64_t amount =
        name == "cpu" ? quantity.thousandths_rounded_up() : quantity.rounded_up();
    amounts.emplace_back(name.str(), std::clamp<std::int64_t>(amount, 0, kMostOfOne));
  }
  return amounts;
}

// Returns the pod's requests, with one piece of the resource `pods` for the pod itself.
Amounts pod_amounts(const PodShape::Fields& shape) {
  Amounts amounts = amounts_of(shape.requests);
  const auto one_pod = std::pair<std::string, std::int64_t>("pods", 1);
  amounts.insert(std::upper_bound(amounts.begin(), amounts.end(), one_pod), one_pod);
  return amounts;
}

// Whether the pod has or had a gate of its own, as pods have whose Job another controller creates.
// A gang of such a controller counts even if another component removed the gate.
bool is_released_alone(const berth::Pod& pod, const Gang& gang) {
  if (is_gated(pod)) return true;
  const auto record = admission_on(pod);
  return record ? record->uid == pod.meta.uid : gang.of_framework && gang.size > 0;
}

std::string name_of(const berth::Pod& pod, const Gang& gang) {
  const OwnerReference* owner = pod.meta.controller();
  const std::string in = pod.meta.namespace_.str() + "/";
  if (owner != nullptr && owner->kind == "Job" && !is_released_alone(pod, gang))
    return "Job/" + in + owner->name.str();
  if (gang.size > 0) return "PodGroup/" + in + gang.name;
  return "Pod/" + in + pod.meta.name;
}

// Whether the pod belongs to a node or a DaemonSet. Any user may write this into a pod, so it
// exempts the pod from no queue. But if such a pod is in no queue, it needs no workload of its own.
bool is_of_a_node(const berth::Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  return pod.meta.annotations.contains(names::kMirrorAnnotation) ||
         (owner != nullptr && (owner->kind == "DaemonSet" || owner->kind == "Node"));
}

void add_gang(const Gang& gang, PodFact& fact) {
  // Otherwise a group with a pod outside the queue would wait for ever.
  if (fact.queue.empty() && !fact.admitted) return fact.workload.clear();
  fact.group_size = gang.size;
  fact.fast = gang.fast;
  fact.role = gang.role;
  if (gang.fast) fact.role_size = gang.role_size;
}

// If a controller created the pod's Job, it re-creates the Job too, so it is the maker. A suspended
// Job creates no pods.
std::string maker_of(const berth::Pod& pod, const berth::Job* job) {
  const OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr) return "";
  if (owner->kind != "Job") return owner->uid.str();
  if (job == nullptr || job->suspended) return "";
  const OwnerReference* above = job->meta.controller();
  return above == nullptr ? job->meta.uid : above->uid.str();
}

// Whether the pod is a gang's and no other pod replaces it. A Job with more completions than
// parallelism replaces each pod that succeeds.
bool has_ended_for_good(const berth::Pod& pod, const berth::Job* job, const std::string& workload) {
  if (pod.terminating() || !is_looked_at(pod) || !workload.starts_with("PodGroup/")) return false;
  if (pod.phase == PodPhase::kFailed) return pod.meta.controller() == nullptr;
  return job == nullptr || job->finished || !job->completions ||
         *job->completions <= job->parallelism;
}

std::int64_t checkpoint_on(const ObjectMeta& meta) {
  const Text* text = meta.annotations.find(names::kLastCheckpointAnnotation);
  const auto time = text == nullptr ? Result<Time>(Error{}) : parse_time(text->view());
  return time ? time->time_since_epoch().count() : 0;
}

Reclaims reclaims_of(ReclaimWithinCohort value) {
  switch (value) {
    case ReclaimWithinCohort::kAny:
      return Reclaims::kAny;
    case ReclaimWithinCohort::kLowerPriority:
      return Reclaims::kLowerPriority;
    default:
      return Reclaims::kNever;
  }
}

std::int64_t microseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

// The API server adds the grace period to deletionTimestamp.
std::int64_t hangs_from(const ObjectMeta& meta) {
  return (*meta.deletion_timestamp + kCountedOnFor).time_since_epoch().count();
}

PodState state_of(const berth::Pod& pod) {
  if (pod.finished()) return PodState::kEnded;
  if (!pod.node_name.view().empty())
    return pod.terminating() ? PodState::kLeaving : PodState::kBound;
  return is_gated(pod) ? PodState::kWaiting : PodState::kReleased;
}

}  // namespace

NodeFact node_fact(const Node& node, const std::string& pool) {
  NodeFact fact{.name = node.meta.name,
                .pool = pool,
                .in_service = is_here_to_stay(node),
                .offers = amounts_of(node.allocatable),
                .one_numa_node = has_one_numa_node(node)};
  for (const auto& [resource, amount] : fact.offers) {
    if (const auto weight = gpu_weight(node, resource))
      fact.gpu_weights.emplace_back(resource, *weight);
  }
  return fact;
}

std::string workload_name(const berth::Job& job) {
  return "Job/" + job.meta.namespace_.str() + "/" + job.meta.name;
}

std::string workload_name(const berth::Pod& pod) { return name_of(pod, gang_of(pod.meta)); }

bool is_made_for_another(const berth::Job& job) {
  const OwnerReference* owner = job.meta.controller();
  return owner != nullptr && owner->kind != "CronJob";
}

std::optional<PodFact> pod_fact(const berth::Pod& pod, const std::string& queue,
                                std::int32_t priority, const berth::Job* job) {
  if (pod.node_name.view().empty() && pod.terminating()) return std::nullopt;
  if (lost_since(pod)) return std::nullopt;
  const Gang gang = gang_of(pod.meta);
  if (pod.finished() && !has_ended_for_good(pod, job, name_of(pod, gang))) return std::nullopt;
  PodFact fact{.uid = pod.meta.uid,
               .workload = name_of(pod, gang),
               .queue = queue,
               .priority = priority,
               .created = pod.meta.creation_timestamp.time_since_epoch().count(),
               .modelled = pod.shape->unmodelled == 0,
               .topology = wish_of(pod.meta),
               .checkpoint = checkpoint_on(pod.meta),
               .requests = pod_amounts(*pod.shape),
               .state = state_of(pod),
               .node = pod.node_name.str()};
  if (fact.state == PodState::kEnded) fact.node.clear();
  if (fact.state == PodState::kLeaving) fact.hangs_from = hangs_from(pod.meta);
  // A record on a gated pod means nothing, as berth has not released the pod.
  if (fact.state != PodState::kWaiting) fact.admitted = admission_on(pod);
  if (queue.empty() && !fact.admitted && is_of_a_node(pod)) fact.workload.clear();
  fact.stays = !fact.workload.starts_with("Job/") && could_stay(pod, job, fact.admitted);
  if (fact.workload.starts_with("PodGroup/")) {
    fact.maker = maker_of(pod, job);
    add_gang(gang, fact);
  }
  return fact;
}

JobFact job_fact(const berth::Job& job, const std::string& queue, std::int32_t priority) {
  JobFact fact{.workload = workload_name(job),
               .uid = job.meta.uid,
               .queue = queue,
               .priority = priority,
               .created = job.meta.creation_timestamp.time_since_epoch().count(),
               .requests = pod_amounts(*job.pod_shape),
               .parallelism = job.parallelism,
               .succeeded = job.succeeded,
               .generation = job.meta.generation,
               .suspended = job.suspended && !job.finished};
  fact.setbacks = setbacks_that_hold(job);
  fact.held = job.meta.annotations.contains(names::kHoldAnnotation) || is_left_to_kueue(job.meta);
  if (job.completions) fact.completions = *job.completions;
  if (job.meta.deletion_timestamp && !seeded(SeededBug::kOfferDeleted)) {
    // Orphaned pods are not deleted, so they hang at once.
    const bool orphans =
        std::ranges::find(job.meta.finalizers, "orphan") != job.meta.finalizers.end();
    fact.hangs_from =
        orphans ? job.meta.deletion_timestamp->time_since_epoch().count() : hangs_from(job.meta);
  }
  // Its remaining pods are being deleted or have ended.
  if (job.finished || fact.hangs_from != 0) fact.parallelism = 0;
  // The API server allows it if the Job has never started, or if all its pods are gone.
  fact.template_mutable =
      job.suspended && job.active == 0 && (job.has_been_suspended || !job.start_time);
  fact.awaits_the_dead = job.has_failure_policy && job.terminating > 0;
  fact.modelled = job.pod_shape->unmodelled == 0;
  fact.topology = wish_of(job.meta);
  fact.checkpoint = checkpoint_on(job.meta);
  if (job.active_deadline_seconds)
    fact.lasts = microseconds(std::chrono::seconds(*job.active_deadline_seconds));
  if (job.start_time) fact.started = job.start_time->time_since_epoch().count();
  fact.admitted = admission_on(job.meta);
  return fact;
}

QueueFact queue_fact(const GPUQueue& queue) {
  const GPUQueueSpec& spec = queue.spec;
  QueueFact fact{.name = queue.meta.name,
                 .cohort = spec.cohort_name,
                 .strict_fifo = spec.queueing_strategy == QueueingStrategy::kStrictFIFO,
                 .held = spec.stop_policy != StopPolicy::kNone,
                 .drains = spec.stop_policy == StopPolicy::kHoldAndDrain,
                 .weight_thousandths = spec.weight_thousandths,
                 .pins = spec.placement == QueuePlacement::kNodes};
  const QueuePreemption& preemption = spec.preemption;
  fact.preemption = {preemption.within_queue == WithinQueue::kLowerPriority,
                     reclaims_of(preemption.reclaim_within_cohort),
                     microseconds(preemption.preempt_min_runtime),
                     microseconds(preemption.reclaim_min_runtime),
                     preemption.unreclaimable == Unreclaimable::kMayBorrow};
  if (spec.reserve_after) fact.reserve_after = microseconds(*spec.reserve_after);
  const bool required = !spec.topology.required.empty();
  fact.topology = {required ? spec.topology.required : spec.topology.preferred, required};
  for (const QuotaSpec& quota : spec.quotas) {
    const std::int64_t unit = quota.resource == kGpuClass ? kWholeGpu : 1;
    const auto in_units = [&](std::optional<std::int64_t> amount) {
      return amount ? std::optional(*amount * unit) : std::nullopt;
    };
    fact.quotas.push_back({quota.resource, quota.pool, quota.nominal_quota * unit,
                           in_units(quota.borrowing_limit), in_units(quota.lending_limit)});
  }
  return fact;
}

ElasticFact elastic_fact(const GPUClusterPolicy& policy) {
  ElasticFact fact;
  for (const PoolSpec& pool : policy.spec.pools)
    if (pool.elastic) fact.max_nodes.emplace_back(pool.name, pool.elastic->max_nodes);
  return fact;
}

}  // namespace berth::queue
