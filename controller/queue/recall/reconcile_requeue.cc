// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/plural.h"
#include "controller/core/seeded_bugs.h"
#include "controller/core/stop.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/named.h"
#include "controller/queue/index/remakers.h"
#include "controller/queue/recall/displaced.h"
#include "controller/queue/recall/drained.h"
#include "controller/queue/recall/never_ready.h"
#include "controller/queue/recall/owner_looks.h"
#include "controller/queue/recall/recall_steps.h"
#include "controller/queue/recall/reconcile.h"
#include "controller/queue/recall/requeue.h"
#include "controller/queue/recall/stranded.h"
#include "controller/queue/recall/unbound_pins.h"
#include "controller/queue/record/setback.h"

namespace berth::queue {
namespace {

constexpr Duration kLookAtPins = std::chrono::minutes(1);  // retry interval for workloads that stay

bool is_bound(const berth::Pod& pod) {
  return !pod.terminating() && !pod.finished() && !pod.node_name.empty();
}

// A pod without a controller would be lost. A pod whose controller fails without it would end the
// user's job.
void plan_drained_pod(const Snapshot& snapshot, const berth::Pod& pod, std::string stays,
                      const std::string& why, Plan& plan) {
  plan.requeue_in(kLookAgain);
  const OwnerLooks looks = look_at_owners(snapshot, {&pod});
  if (stays.empty()) stays = looks.why;
  if (!stays.empty()) {
    plan.events.push_back({ref_of(pod), true, reasons::kPodKept, "TakeBack",
                           fmt::format("{}, and the pod is not evicted: {}", why, stays)});
    return plan_open_looks(looks, plan);
  }
  guard_by_looks(looks, ref_of(pod), plan);
  plan.add(ref_of(pod), ask_to_evict(pod));
  plan.add(ref_of(pod), evict_pod(pod, why));
}

void plan_drain(const Snapshot& snapshot, const ClusterIndex& index, const Workload& workload,
                Plan& plan) {
  const std::string why = "queue " + admission_of(workload)->queue + " is drained";
  if (workload.job) {
    const berth::Job* job = find_named(snapshot.cluster.jobs(), *workload.name);
    if (job != nullptr) plan.add(ref_of(*job), suspend_job(*job, why));
    return;
  }
  if (auto gang = drained(snapshot.cluster, workload)) {
    if (gang->recalled.empty()) {
      tell_gang_stays(snapshot, workload, gang->why, gang->stays, plan);
      return plan.requeue_in(kLookAtPins);
    }
    return plan_recall(snapshot, workload,
                       {std::move(gang->why), std::move(gang->recalled), std::move(gang->bound)},
                       plan);
  }
  Remakers remakers(snapshot.cluster);
  for (const berth::Pod* pod : pods_of(snapshot.cluster, index, *workload.name))
    if (is_bound(*pod)) plan_drained_pod(snapshot, *pod, remakers.why_not(*pod), why, plan);
}

// Returns whether the workload is taken back because one of its nodes goes out of service.
bool plan_stranded(const Snapshot& snapshot, const Workload& workload, Plan& plan) {
  const auto found = stranded(snapshot.cluster, workload);
  if (!found || seeded(SeededBug::kStayStranded)) return false;
  if (!found->recalled.empty()) {
    plan_recall(snapshot, workload, {found->why, found->recalled, found->elsewhere}, plan);
    return true;
  }
  if (found->requeued == nullptr) {
    tell_gang_stays(snapshot, workload, found->why, found->stays, plan);
    plan.requeue_in(kLookAtPins);
    return false;
  }
  const ObjectRef job = ref_of(*found->requeued);
  for (const berth::Pod* pod : found->elsewhere)
    if (!pod->terminating()) plan.add(job, ask_to_evict(*pod));
  plan.add(job, suspend_job(*found->requeued, found->why));
  plan.requeue_in(kLookAgain);
  return true;
}

// Returns whether the gang is taken back.
bool plan_late_gang(const Snapshot& snapshot, const Workload& workload, Plan& plan) {
  const auto late = never_ready(snapshot.cluster, workload);
  if (!late) return false;
  if (const Time ends = late->ends(snapshot); snapshot.now < ends) {
    plan.requeue_in(std::chrono::ceil<Duration>(ends - snapshot.now));
    return false;
  }
  plan.requeue_in(kLookAtPins);
  std::string why = fmt::format("{} {} not been Ready in time", plural(late->pods, "pod"),
                                word_for(late->pods, "has", "have"));
  if (late->recalled.empty()) {
    tell_gang_stays(snapshot, workload, why, late->stays, plan);
    return false;
  }
  plan_recall(snapshot, workload, {std::move(why), late->recalled, late->bound, true}, plan);
  return true;
}

// A Job that was set back waits again in its queue once its time is over.
void plan_backoff(const Snapshot& snapshot, const berth::Job& job, Plan& plan) {
  const Time until = setback_on(job.meta)->until.value_or(Time::max());
  if (until <= snapshot.now)
    plan.add(ref_of(job), end_backoff(job));
  else if (until != Time::max())
    plan.requeue_in(std::chrono::ceil<Duration>(until - snapshot.now));
}

// While berth is stopped it takes nothing back.
Plan plan_while_stopped(const Snapshot& snapshot, const Workload& workload) {
  Plan plan;
  if (!workload.job || workload.job->setbacks == 0) return plan;
  if (const berth::Job* job = find_named(snapshot.cluster.jobs(), *workload.name))
    plan_backoff(snapshot, *job, plan);
  return plan;
}

// Returns whether the workload is taken back, or left out for a while.
bool plan_never_ready(const Snapshot& snapshot, const Workload& workload, Plan& plan) {
  if (!workload.job) return plan_late_gang(snapshot, workload, plan);
  const berth::Job* job = find_named(snapshot.cluster.jobs(), *workload.name);
  if (job == nullptr) return false;
  if (workload.job->setbacks > 0) {
    plan_backoff(snapshot, *job, plan);
    return true;
  }
  if (has_overcome_setbacks(snapshot.cluster, workload))
    plan.add(ref_of(*job), forget_setbacks(*job));
  const auto late = never_ready(snapshot.cluster, workload);
  if (!late) return false;
  if (const Time ends = late->ends(snapshot); snapshot.now < ends) {
    plan.requeue_in(std::chrono::ceil<Duration>(ends - snapshot.now));
    return false;
  }
  plan.requeue_in(kLookAtPins);
  if (late->requeued == nullptr) return false;
  for (const berth::Pod* pod : late->bound)
    if (!pod->terminating()) plan.add(ref_of(*job), ask_to_evict(*pod));
  plan.add(ref_of(*job), set_back(*job, snapshot.now));
  return true;
}

// Budgets do not count pods on no node. berth asks them only for the Job's other pods.
void plan_unbound(const Snapshot& snapshot, const Workload& workload, Plan& plan) {
  const auto pins = unbound_pins(snapshot.cluster, workload);
  if (!pins) return;
  if (const Time ends = pins->ends(snapshot); snapshot.now < ends)
    return plan.requeue_in(std::chrono::ceil<Duration>(ends - snapshot.now));
  plan.requeue_in(kLookAtPins);
  const std::string why = "pinned and not bound" + (pins->lost.empty() ? "" : ", " + pins->lost);
  if (const berth::Job* job = pins->requeued) {
    for (const berth::Pod* pod : bound_pods(snapshot.cluster, *job))
      if (!pod->terminating()) plan.add(ref_of(*job), ask_to_evict(*pod));
    plan.add(ref_of(*job), suspend_job(*job, why));
  }
  // The controller does not count the eviction of a pod on no node as a failure (remakers.h).
  for (const berth::Pod* pod : pins->evicted) plan.add(ref_of(*pod), evict_pod(*pod, why));
}

}  // namespace

Plan reconcile_requeue(const Snapshot& snapshot, std::string_view name) {
  Plan plan;
  if (snapshot.offline) return plan;
  const auto& index = snapshot.cluster.view<ClusterIndex>();
  const Workload* workload = index.facts().find(std::string(name));
  if (workload == nullptr || workload->standing.newer) return plan;
  if (is_stopped(snapshot)) return plan_while_stopped(snapshot, *workload);
  if (const LedgerFact* entry = displaced_for(snapshot, *workload))
    return plan_displaced(snapshot, *workload, *entry);
  if (plan_recalled(snapshot, *workload, plan)) return plan;
  if (index.facts().is_drained(*workload))
    plan_drain(snapshot, index, *workload, plan);
  else if (!plan_stranded(snapshot, *workload, plan) &&
           !plan_never_ready(snapshot, *workload, plan))
    plan_unbound(snapshot, *workload, plan);
  return plan;
}

}  // namespace berth::queue
