// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/drain_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/patience.h"
#include "controller/core/refused_write.h"
#include "controller/core/removal_grace.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/leaving_outlook.h"
#include "controller/queue/recall/requeue.h"

namespace berth {
namespace {

std::string name_of(const Pod& pod) {
  return fmt::format("{}/{}", pod.meta.namespace_.view(), pod.meta.name);
}

Time deadline_of(const Snapshot& snapshot, const PodVerdict& verdict, const DrainSpec& drain,
                 Time since) {
  const Pod& pod = *verdict.pod;
  const bool awaited =
      drain.wait_for_completion && drain.wait_for_completion->pod_selector.matches(pod.meta.labels);
  const Duration timeout = awaited ? drain.wait_for_completion->timeout : drain.timeout;
  // A pod that was deleted by force has its grace period, which ends at its deletionTimestamp, and
  // then drain.timeout. A pod that is stuck must not keep the node out of service for ever.
  const Time ends = patience_ends(snapshot, since, timeout);
  if (verdict.fate == PodFate::kTerminating && drain.on_timeout == OnTimeout::kForce)
    return std::max(ends, patience_ends(snapshot, *pod.meta.deletion_timestamp, drain.timeout));
  return ends;
}

// Whether the pod holds no GPU and belongs to the cluster's system or to berth.
bool keeps_the_cluster_going(const Pod& pod, const Settings& settings) {
  const std::string_view name = pod.meta.namespace_.view();
  return !uses_gpu(pod) &&
         (name == settings.berth_namespace ||
          std::ranges::find(names::kSystemNamespaces, name) != std::end(names::kSystemNamespaces));
}

// Force ignores budgets, Jobs and marks. It never deletes data or jobs that the layout protects,
// nor pods that the cluster needs. If only such a pod keeps the node busy, berth restores the node.
bool may_be_forced(const PodVerdict& verdict, const DrainSpec& drain, const Settings& settings) {
  if (drain.on_timeout != OnTimeout::kForce || verdict.fate == PodFate::kTerminating) return false;
  // Such a pod would return, or has to stay.
  if (verdict.cause.reason == reasons::kPodStays ||
      verdict.cause.reason == reasons::kOwnerWouldFail ||
      verdict.cause.reason == reasons::kToleratesCordon || verdict.cause.reason == reasons::kOwnPod)
    return false;
  const Pod& pod = *verdict.pod;
  if (keeps_the_cluster_going(pod, settings)) return false;
  return (pod.meta.controller() != nullptr || drain.force) &&
         (!pod.has_empty_dir || drain.delete_empty_dir_data);
}

// Returns when to try the eviction: now, unless it is too early for this pod or the API server has
// just refused.
Time next_try(const Snapshot& snapshot, const PodVerdict& verdict) {
  const Answer* answer = snapshot.answers.find(question(ask_of(*verdict.pod)), snapshot.now,
                                               snapshot.settings.answer_ttl);
  if (answer == nullptr || answer->yes) return verdict.not_before.value_or(snapshot.now);
  // A 500 means two budgets for one pod, which a user has to fix, or a server in trouble. berth
  // need not hurry in either case.
  Duration wait = answer->error.kind == ErrorKind::kServer ? snapshot.settings.answer_ttl
                                                           : snapshot.settings.eviction_retry;
  if (answer->error.retry_after) wait = std::max<Duration>(wait, *answer->error.retry_after);
  return answer->at + wait;
}

Write removal(Verb verb, const Pod& pod, const Node& node, const DrainSpec& drain) {
  return {.verb = verb,
          .object = ref_of(pod),
          .body = {},
          .field_manager = names::kManagerMig,
          .reason = fmt::format("{} node {}", verb == Verb::kEvict ? "drain" : "force off",
                                node.meta.name),
          .grace_period_seconds = verb == Verb::kDelete && seeded(SeededBug::kForceWithoutGrace)
                                      ? std::optional<std::int64_t>(0)
                                      : removal_grace(pod, drain.grace_period_seconds)};
}

// Suspends the Job once each of its pods may be evicted.
void plan_requeue(const Snapshot& snapshot, const PodVerdict& verdict, const Node& node,
                  bool forced, Plan& plan) {
  const Job& job = *verdict.job;
  if (plan.has_steps(ref_of(job))) return;
  const LeavingOutlook outlook = leaving_outlook(snapshot, verdict);
  if (forced || outlook.kind == EvictionOutlook::Kind::kYes)
    return plan.add(ref_of(job),
                    queue::suspend_job(job, fmt::format("drain node {}", node.meta.name)));
  for (const Ask& ask : outlook.asks)
    if (!plan.has_steps(ask.pod)) plan.add(ask.pod, ask);
  plan.requeue_in(snapshot.settings.eviction_retry);
}

// Returns the API server's refusal of the write that makes the pod leave.
std::optional<RefusedWrite> refused_removal(const Snapshot& snapshot, const PodVerdict& verdict) {
  if (verdict.fate == PodFate::kRequeue)
    return refused_write(snapshot, ref_of(*verdict.job), names::kManagerQueue);
  return refused_write(snapshot, ref_of(*verdict.pod), names::kManagerMig);
}

// Returns the priority of a reason: problems that a user has to solve come before waits.
int weight(const std::string& reason) {
  if (reason.empty()) return 0;
  return reason == reasons::kPodsLeaving ? 1 : 2;
}

void tell(DrainProgress& progress, Cause cause) {
  if (weight(cause.reason) > weight(progress.cause.reason)) progress.cause = std::move(cause);
}

void tell_verdict(const Snapshot& snapshot, const PodVerdict& verdict, DrainProgress& progress) {
  const Pod& pod = *verdict.pod;
  switch (verdict.fate) {
    case PodFate::kLeftAlone:
      return;
    case PodFate::kTerminating:
      return tell(progress,
                  {reasons::kPodsLeaving, fmt::format("pod {} is terminating", name_of(pod))});
    case PodFate::kAwaited:
      return tell(progress, {reasons::kPodsLeaving,
                             fmt::format("pod {} is left to end by itself", name_of(pod))});
    case PodFate::kBlocked:
      return tell(progress, verdict.cause);
    case PodFate::kEvict:
    case PodFate::kRequeue: {
      LeavingOutlook outlook = leaving_outlook(snapshot, verdict);
      if (outlook.kind == EvictionOutlook::Kind::kNo)
        return tell(progress, std::move(outlook.cause));
      if (verdict.fate == PodFate::kEvict)
        return tell(progress,
                    {reasons::kPodsLeaving, fmt::format("pod {} is being evicted", name_of(pod))});
      return tell(progress, {reasons::kPodsLeaving,
                             fmt::format("Job {}/{} is suspended, and waits in its queue again",
                                         pod.meta.namespace_.view(), verdict.job->meta.name)});
    }
  }
}

}  // namespace

DrainProgress drain_progress(const Snapshot& snapshot, const Node& node, const DrainSpec& drain,
                             Time since) {
  DrainProgress progress;
  for (const PodVerdict& verdict : pods_leaving(snapshot, node, drain)) {
    progress.empty = false;
    const bool late = snapshot.now >= deadline_of(snapshot, verdict, drain, since);
    // Force does not help if the API server refuses the deletion.
    std::optional<RefusedWrite> refused;
    if (late) refused = refused_removal(snapshot, verdict);
    if (refused) tell(progress, {reasons::kWriteRefused, refused->message});
    tell_verdict(snapshot, verdict, progress);
    if (late && (refused || !may_be_forced(verdict, drain, snapshot.settings)))
      progress.timed_out = true;
  }
  return progress;
}

DrainProgress plan_drain(const Snapshot& snapshot, const Node& node, const DrainSpec& drain,
                         Time since, Plan& plan) {
  DrainProgress progress = drain_progress(snapshot, node, drain, since);
  if (progress.timed_out) return progress;
  const std::vector<PodVerdict> leaving = pods_leaving(snapshot, node, drain);
  for (const PodVerdict& verdict : leaving) {
    // berth's own pod goes last: its successor has to do what this process does not get done.
    if (leaving.size() > 1 && is_own_pod(*verdict.pod, snapshot.settings)) continue;
    const Time deadline = deadline_of(snapshot, verdict, drain, since);
    if (snapshot.now < deadline)
      plan.requeue_in(std::chrono::ceil<Duration>(deadline - snapshot.now));
    const bool forced =
        snapshot.now >= deadline && may_be_forced(verdict, drain, snapshot.settings);
    const Pod& pod = *verdict.pod;
    // Even then berth suspends the Job: the Job would count a deleted pod as a failure.
    const bool with_job = verdict.fate == PodFate::kRequeue && !verdict.job->suspended;
    if (verdict.fate == PodFate::kBlocked && verdict.look_is_due &&
        !plan.has_steps(verdict.look->node))
      plan.add(verdict.look->node, *verdict.look);
    if (forced && !with_job) {
      if (verdict.look) plan.add(ref_of(pod), *verdict.look);
      plan.add(ref_of(pod), removal(Verb::kDelete, pod, node, drain));
      continue;
    }
    if (verdict.fate != PodFate::kEvict && !with_job) continue;
    const Time due = forced ? snapshot.now : next_try(snapshot, verdict);
    if (snapshot.now < due) {
      plan.requeue_in(std::chrono::ceil<Duration>(due - snapshot.now));
      continue;
    }
    if (with_job) {
      plan_requeue(snapshot, verdict, node, forced, plan);
      continue;
    }
    if (verdict.look) plan.add(ref_of(pod), *verdict.look);
    plan.add(ref_of(pod), ask_of(pod));
    plan.add(ref_of(pod), removal(Verb::kEvict, pod, node, drain));
  }
  return progress;
}

}  // namespace berth
