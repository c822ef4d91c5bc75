// SPDX-License-Identifier: Apache-2.0
#include "apis/names.h"
#include "controller/queue/cluster_index.h"
#include "controller/queue/named.h"
#include "controller/queue/reconcile.h"
#include "controller/queue/requeue.h"

namespace berth {
namespace {

constexpr Duration kLookAgain = std::chrono::seconds(10);  // at what may not be evicted yet

// A pod that nobody makes anew would be lost.
bool may_leave(const Pod& pod) {
  return !pod.terminating() && !pod.finished() && !pod.node_name.empty() &&
         pod.meta.controller() != nullptr;
}

}  // namespace

Plan reconcile_requeue(const Snapshot& snapshot, std::string_view name) {
  Plan plan;
  if (snapshot.offline) return plan;
  const auto& index = snapshot.cluster.view<queue::ClusterIndex>();
  const queue::Workload* workload = index.facts().find(std::string(name));
  if (workload == nullptr || !index.facts().is_drained(*workload)) return plan;
  const std::string why = "queue " + admission_of(*workload)->queue + " is drained";
  if (workload->job) {
    const Job* job = queue::find_named(snapshot.cluster.jobs(), name);
    if (job != nullptr) plan.add(ref_of(*job), queue::suspend_job(*job, why));
    return plan;
  }
  for (const Pod* pod : queue::pods_of(snapshot.cluster, index, *workload->name)) {
    if (!may_leave(*pod)) continue;
    const ObjectRef object = ref_of(*pod);
    plan.add(object, Ask{object, pod->meta.resource_version});
    plan.add(object, Write{.verb = Verb::kEvict,
                           .object = object,
                           .field_manager = names::kManagerQueue,
                           .reason = why});
    plan.requeue_in(kLookAgain);
  }
  return plan;
}

}  // namespace berth
