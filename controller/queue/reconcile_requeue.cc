// SPDX-License-Identifier: Apache-2.0
#include "apis/names.h"
#include "controller/queue/cluster_index.h"
#include "controller/queue/named.h"
#include "controller/queue/reconcile.h"
#include "controller/queue/requeue.h"
#include "controller/queue/unbound_pins.h"

namespace berth {
namespace {

constexpr Duration kLookAgain = std::chrono::seconds(10);  // at what may not be evicted yet
constexpr Duration kLookAtPins = std::chrono::minutes(1);  // that stay, or whose pods do

// A pod that nobody makes anew would be lost.
bool may_leave(const Pod& pod) {
  return !pod.terminating() && !pod.finished() && !pod.node_name.empty() &&
         pod.meta.controller() != nullptr;
}

Ask ask_of(const Pod& pod) { return {ref_of(pod), pod.meta.resource_version}; }

Write evict(const Pod& pod, const std::string& why) {
  return {.verb = Verb::kEvict,
          .object = ref_of(pod),
          .field_manager = names::kManagerQueue,
          .reason = why};
}

void plan_drain(const Snapshot& snapshot, const queue::ClusterIndex& index,
                const queue::Workload& workload, Plan& plan) {
  const std::string why = "queue " + admission_of(workload)->queue + " is drained";
  if (workload.job) {
    const Job* job = queue::find_named(snapshot.cluster.jobs(), *workload.name);
    if (job != nullptr) plan.add(ref_of(*job), queue::suspend_job(*job, why));
    return;
  }
  for (const Pod* pod : queue::pods_of(snapshot.cluster, index, *workload.name)) {
    if (!may_leave(*pod)) continue;
    plan.add(ref_of(*pod), ask_of(*pod));
    plan.add(ref_of(*pod), evict(*pod, why));
    plan.requeue_in(kLookAgain);
  }
}

// What is on no node is in no budget's way: only for a Job's other pods budgets are asked.
void plan_unbound(const Snapshot& snapshot, const queue::Workload& workload, Plan& plan) {
  const auto pins = queue::unbound_pins(snapshot.cluster, workload);
  if (!pins) return;
  if (!pins->is_overdue(snapshot.now))
    return plan.requeue_in(std::chrono::ceil<Duration>(pins->until - snapshot.now));
  plan.requeue_in(kLookAtPins);
  const std::string why = "pinned and not bound" + (pins->lost.empty() ? "" : ", " + pins->lost);
  if (const Job* job = pins->requeued) {
    for (const Pod* pod : queue::bound_pods(snapshot.cluster, *job))
      if (!pod->terminating()) plan.add(ref_of(*job), ask_of(*pod));
    plan.add(ref_of(*job), queue::suspend_job(*job, why));
  }
  for (const Pod* pod : pins->evicted) plan.add(ref_of(*pod), evict(*pod, why));
}

}  // namespace

Plan reconcile_requeue(const Snapshot& snapshot, std::string_view name) {
  Plan plan;
  if (snapshot.offline) return plan;
  const auto& index = snapshot.cluster.view<queue::ClusterIndex>();
  const queue::Workload* workload = index.facts().find(std::string(name));
  if (workload == nullptr) return plan;
  if (index.facts().is_drained(*workload))
    plan_drain(snapshot, index, *workload, plan);
  else
    plan_unbound(snapshot, *workload, plan);
  return plan;
}

}  // namespace berth
