// SPDX-License-Identifier: Apache-2.0
// Outline: idle workloads of queues and idle single pods of no queue that are due under policy
// Always, with a limit per run; and which pods the API server keeps.
#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <vector>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/annotation_room.h"
#include "controller/core/merge_patch.h"
#include "controller/core/refused_write.h"
#include "controller/core/seeded_bugs.h"
#include "controller/core/stop.h"
#include "controller/fleet/pools.h"
#include "controller/observe/idle_pods.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/index/named.h"
#include "controller/queue/index/remakers.h"
#include "controller/queue/recall/displaced.h"
#include "controller/queue/recall/idle_measures.h"
#include "controller/queue/recall/idle_work.h"
#include "controller/queue/recall/owner_looks.h"
#include "controller/queue/recall/reconcile.h"
#include "controller/queue/recall/requeue.h"

namespace berth::queue {
namespace {

// Retry interval for pods that may not be evicted yet.
constexpr Duration kTryAgain = std::chrono::seconds(30);
constexpr std::size_t kMostReclaimed = 8;

class Reclaimer {
 public:
  Reclaimer(const Snapshot& snapshot, const GPUClusterPolicy& policy)
      : snapshot_(snapshot), idle_(policy.spec.idle), remakers_(snapshot.cluster) {}

  // The Job stays out of its queue until a user removes the hold. Otherwise it would start at once
  // and be idle again.
  void take(const berth::Job& job, Time since) {
    if (refused_write(snapshot_, ref_of(job), names::kManagerQueue)) return;
    MergePatch patch = MergePatch::same_version(job.meta);
    patch.field("spec", R"({"suspend":true})");
    const std::string preempted = format_time(snapshot_.now) + ", as its GPUs were idle";
    if (has_room_for(job.meta, names::kPreemptedAnnotation, preempted + kHeldAsIdle)) {
      patch.annotation(names::kPreemptedAnnotation, preempted);
      if (!seeded(SeededBug::kLetIdleQueue)) patch.annotation(names::kHoldAnnotation, kHeldAsIdle);
    }
    plan_.add(ref_of(job), Write{.verb = Verb::kMergePatch,
                                 .object = ref_of(job),
                                 .body = patch.str(),
                                 .field_manager = names::kManagerQueue,
                                 .reason = why(since)});
    tell(ref_of(job), since, "; remove annotation gpu.berth.dev/hold, and it queues again");
  }

  // Evicts all of the pods or none, as far as the API server has answered.
  void take(const std::vector<const berth::Pod*>& pods, Time since, Time due) {
    const ObjectRef all = ref_of(*pods.front());
    plan_.requeue_in(kTryAgain);
    const OwnerLooks looks = look_at_owners(snapshot_, pods);
    if (looks.kept != nullptr) {
      if (looks.times == 1) keep(*looks.kept, looks.why);
      return plan_open_looks(looks, plan_);
    }
    for (const berth::Pod* pod : pods) {
      if (const std::string stays = remakers_.why_not(*pod); !stays.empty()) {
        if (snapshot_.now < due + kTryAgain) keep(*pod, stays);
        return;
      }
      const Answer* answer = snapshot_.answers.find(question(ask_to_evict(*pod)), snapshot_.now,
                                                    snapshot_.settings.answer_ttl);
      if (answer == nullptr || answer->yes) continue;
      keep(*pod, *answer);
      return;
    }
    guard_by_looks(looks, all, plan_);
    for (const berth::Pod* pod : pods) plan_.add(all, ask_to_evict(*pod));
    for (const berth::Pod* pod : pods) plan_.add(all, evict_pod(*pod, why(since)));
    tell(all, since, "");
  }

  // Reports only the first refusal of a series.
  void keep(const berth::Pod& pod, const Answer& answer) {
    if (answer.times == 1) keep(pod, answer.error.message);
  }
  void keep(const berth::Pod& pod, const std::string& why) {
    plan_.events.push_back({ref_of(pod), true, reasons::kGpusKept, "Reclaim",
                            "its idle GPUs can't be taken back: " + why});
  }
  bool full() const { return plan_.objects.size() >= kMostReclaimed; }
  void look_at(Time due) { plan_.requeue_in(std::chrono::ceil<Duration>(due - snapshot_.now)); }
  Plan finish() { return std::move(plan_); }

 private:
  std::string why(Time since) const {
    return "its GPUs have been idle since " + format_time(since);
  }
  void tell(const ObjectRef& object, Time since, std::string_view then) {
    plan_.events.push_back({object, true, reasons::kGpusReclaimed, "Reclaim",
                            fmt::format("{}, and idle.policy is Always{}", why(since), then)});
    plan_.observations.push_back(reclaimed(object, idle_.policy));
  }

  const Snapshot& snapshot_;
  const IdleSpec& idle_;
  Remakers remakers_;
  Plan plan_;
};

// Takes back workloads that queues have admitted.
void take_work(const Snapshot& snapshot, const GPUClusterPolicy& policy, Reclaimer& reclaimer) {
  const auto& index = snapshot.cluster.view<ClusterIndex>();
  for (const IdleWork& idle : find_idle_work(snapshot, policy)) {
    const Workload& workload = *idle.workload;
    if (!workload.standing.admitted || workload.standing.newer) continue;
    const Time due{std::chrono::microseconds(idle.due)};
    const Time since{std::chrono::microseconds(idle.since)};
    if (due > snapshot.now) {
      reclaimer.look_at(due);
      continue;
    }
    if (reclaimer.full()) return;
    if (!workload.job)
      reclaimer.take(pods_of(snapshot.cluster, index, *workload.name), since, due);
    else if (may_be_displaced(snapshot, workload))
      reclaimer.take(*find_named(snapshot.cluster.jobs(), *workload.name), since);
  }
}

// Whether a queue has admitted the pod. Then it is taken back or kept with its whole workload.
bool is_of_a_queue(const Snapshot& snapshot, const berth::Pod& pod) {
  if (snapshot.cluster.gpu_queues().size() == 0) return false;
  const auto& facts = snapshot.cluster.view<ClusterIndex>().facts();
  const Workload* workload = facts.find(workload_name(pod));
  return workload != nullptr && workload->standing.admitted;
}

constexpr Duration kAnswerIsNews = std::chrono::seconds(90);

// Under OnPressure, reconcile_admissions has asked the API server already.
void tell_who_is_kept(const Snapshot& snapshot, const IdlePod& idle, Reclaimer& reclaimer) {
  const Answer* answer =
      snapshot.answers.find(question(ask_to_evict(*idle.pod)), snapshot.now, kAnswerIsNews);
  if (answer != nullptr && !answer->yes) reclaimer.keep(*idle.pod, *answer);
  const OwnerLooks looks = look_at_owners(snapshot, {idle.pod});
  if (looks.kept != nullptr && looks.times == 1) reclaimer.keep(*looks.kept, looks.why);
}

}  // namespace

Plan reconcile_reclaim(const Snapshot& snapshot) {
  const GPUClusterPolicy* policy = find_policy(snapshot.cluster);
  if (policy == nullptr || snapshot.offline || is_stopped(snapshot) ||
      !snapshot.attention.clock_is_right())
    return {};
  Reclaimer reclaimer(snapshot, *policy);
  if (policy->spec.idle.policy == IdlePolicy::kOnPressure)
    for (const IdlePod& idle : find_idle_pods(snapshot, *policy))
      tell_who_is_kept(snapshot, idle, reclaimer);
  const bool always = policy->spec.idle.policy == IdlePolicy::kAlways;
  if (!always && !seeded(SeededBug::kTakeUnasked)) return reclaimer.finish();
  if (snapshot.cluster.gpu_queues().size() > 0) take_work(snapshot, *policy, reclaimer);
  for (const IdlePod& idle : find_idle_pods(snapshot, *policy)) {
    if (is_of_a_queue(snapshot, *idle.pod)) continue;
    if (idle.due > snapshot.now)
      reclaimer.look_at(idle.due);
    else if (!reclaimer.full())
      reclaimer.take({idle.pod}, idle.since, idle.due);
  }
  return reclaimer.finish();
}

}  // namespace berth::queue
