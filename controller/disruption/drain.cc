// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/drain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "apis/base/eviction_outcome.h"
#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/rollouts.h"
#include "controller/fleet/fit.h"
#include "controller/fleet/pod_selects.h"
#include "controller/queue/index/remakers.h"
#include "controller/queue/recall/owner_looks.h"
#include "controller/queue/recall/requeue.h"

namespace berth {
namespace {

constexpr char kDoNotDisruptAnnotation[] = "karpenter.sh/do-not-disrupt";

bool is_job_pod(const Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  return owner != nullptr && owner->kind == "Job";
}

PodVerdict blocked(const Pod& pod, const char* reason, std::string message) {
  return {.pod = &pod, .fate = PodFate::kBlocked, .cause = {reason, std::move(message)}};
}

EvictionOutlook refused(const char* reason, std::string message) {
  return {.kind = EvictionOutlook::Kind::kNo, .cause = {reason, std::move(message)}};
}

std::optional<PodVerdict> refuse_job(const Snapshot& snapshot, const Pod& pod,
                                     std::int64_t pods_of_job_here) {
  const OwnerReference& owner = *pod.meta.controller();
  const Job* job = snapshot.cluster.jobs().find(pod.meta.namespace_.view(), owner.name.view());
  if (job != nullptr && job->ignores_disruptions) return std::nullopt;
  const std::int64_t left =
      job == nullptr ? 0 : std::int64_t{job->backoff_limit} - std::int64_t{job->failed};
  if (left >= pods_of_job_here) return std::nullopt;
  return blocked(
      pod, reasons::kJobRunning,
      fmt::format(
          "Job {}/{} would fail: an eviction counts as a failure and it has {} of {} retries left "
          "for {} pod{} here; wait until it ends, or let its podFailurePolicy ignore "
          "DisruptionTarget",
          pod.meta.namespace_.view(), owner.name.view(), std::max<std::int64_t>(left, 0),
          job == nullptr ? 0 : job->backoff_limit, pods_of_job_here,
          pods_of_job_here == 1 ? "" : "s"));
}

// If berth evicts its own pod and the pod fits nowhere else, no controller is left to return the
// cordoned node.
std::optional<PodVerdict> refuse_own(const Snapshot& snapshot, const Pod& pod) {
  if (!is_own_pod(pod, snapshot.settings)) return std::nullopt;
  const Fit fit(snapshot.cluster);
  const bool has_place = std::ranges::any_of(snapshot.cluster.nodes(), [&](const auto& node) {
    return node->meta.name != pod.node_name.view() && fit.fits(pod, node->meta.name);
  });
  if (has_place) return std::nullopt;
  return blocked(pod, reasons::kOwnPod,
                 fmt::format("pod {}/{} is berth's own and fits on no other node ({}); make room "
                             "for it elsewhere, keep berth off the layout's nodes, or set "
                             "spec.drain.scope: GPUPods",
                             pod.meta.namespace_.view(), pod.meta.name, fit.explain(pod)));
}

// Whether it is a pod of a DaemonSet or a static pod that holds GPUs. Such pods of NVIDIA's
// components check the devices and end, so they don't count.
bool holds_gpus_and_stays(const Occupant& occupant, const Settings& settings) {
  if (!occupant.stays || occupant.namespace_ == std::string_view(settings.agents_namespace))
    return false;
  bool holds = false;
  each_demand(occupant, [&](const Text&, std::int64_t count) { holds = holds || count > 0; });
  return holds;
}

PodVerdict stays(const Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  if (owner != nullptr && owner->kind == "DaemonSet")
    return blocked(
        pod, reasons::kPodStays,
        fmt::format("pod {}/{} holds GPUs, and DaemonSet {} brings it back at once; keep the "
                    "DaemonSet off the node, or the node out of the layout",
                    pod.meta.namespace_.view(), pod.meta.name, owner->name.view()));
  return blocked(
      pod, reasons::kPodStays,
      fmt::format("pod {}/{} holds GPUs, and is static: no eviction moves it; remove its "
                  "manifest from the node, or the node from the layout",
                  pod.meta.namespace_.view(), pod.meta.name));
}

// Whether the scheduler could bind such a pod to another node if that had free capacity.
bool may_run_elsewhere(const ClusterState& cluster, const Pod& pod, const Node& here) {
  return std::ranges::any_of(cluster.nodes(), [&](const auto& node) {
    return node.get() != &here && selects(pod, *node) && tolerates_taints(pod, *node) &&
           std::ranges::all_of(pod.shape->requests, [&](const auto& request) {
             return !is_gpu_resource(request.first.view()) ||
                    node->allocatable.get(request.first) >= request.second;
           });
  });
}

// A pod that tolerates a cordon is bound to the node again after each eviction. If its controller
// sets the node's name, it does not even go through the scheduler, and berth sees that only when
// the pod is back.
PodVerdict judge_successor(const Snapshot& snapshot, const Pod& pod, const Node& node,
                           const RolloutRecord& record) {
  const std::string name = fmt::format("{}/{}", pod.meta.namespace_.view(), pod.meta.name);
  constexpr char kAdvice[] =
      "remove its toleration of node.kubernetes.io/unschedulable and its nodeName, or scale it "
      "down";
  const bool tolerant = tolerates_cordon(pod);
  if (tolerant && !may_run_elsewhere(snapshot.cluster, pod, node))
    return blocked(
        pod, reasons::kToleratesCordon,
        fmt::format("pod {} tolerates a cordon and can run nowhere else, so an eviction would "
                    "bring it back here; {}",
                    name, kAdvice));
  if (!record.rollout) return {&pod, PodFate::kEvict};
  const NodeRollout& rollout = *record.rollout;
  if (record.idle()) {
    if (!tolerant || rollout.cause != reasons::kToleratesCordon) return {&pod, PodFate::kEvict};
    return blocked(
        pod, reasons::kToleratesCordon,
        fmt::format("pod {} tolerates a cordon, and came back when the node was last drained; {}",
                    name, kAdvice));
  }
  // If a user has uncordoned the node meanwhile, any pod may have been bound to it.
  const bool by_berth =
      rollout.phase == RolloutPhase::kCordoned && rollout.berth_cordoned && node.cordoned();
  // creationTimestamp has whole seconds.
  const Time made = pod.meta.creation_timestamp;
  const Time cordoned = std::chrono::floor<std::chrono::seconds>(rollout.since);
  if (!(tolerant || by_berth) || made < cordoned) return {&pod, PodFate::kEvict};
  // The first successor may have been on its way already. It leaves once no pod can be on its way
  // any more. A pod created later came in spite of the cordon, and so would the next one.
  const Time settled =
      std::max<Time>(rollout.since + snapshot.settings.settle, cordoned + std::chrono::seconds(1));
  if (made < std::chrono::floor<std::chrono::seconds>(settled))
    return {.pod = &pod, .fate = PodFate::kEvict, .not_before = settled};
  return blocked(
      pod, reasons::kToleratesCordon,
      fmt::format(
          "pod {} was created and bound here after the cordon, as its replacement would be; {}",
          name, kAdvice));
}

const Job* requeued(const Snapshot& snapshot, const Pod& pod) {
  return seeded(SeededBug::kEvictAdmitted) ? nullptr : queue::requeued_with(snapshot.cluster, pod);
}

PodVerdict requeue(const Snapshot& snapshot, const Pod& pod, const Job& job, const Node& node,
                   const RolloutRecord& record) {
  PodVerdict verdict = judge_successor(snapshot, pod, node, record);
  if (verdict.fate != PodFate::kEvict) return verdict;
  verdict.fate = PodFate::kRequeue;
  verdict.job = &job;
  return verdict;
}

PodVerdict judge(const Snapshot& snapshot, const Pod& pod, const DrainSpec& drain,
                 const std::map<std::string_view, std::int64_t>& jobs, const Node& node,
                 const RolloutRecord& record) {
  if (pod.terminating()) return {&pod, PodFate::kTerminating};
  if (auto refusal = refuse_own(snapshot, pod)) return *std::move(refusal);
  if (holds_gpus_and_stays(occupant_of(pod), snapshot.settings)) return stays(pod);
  if (drain.wait_for_completion && drain.wait_for_completion->pod_selector.matches(pod.meta.labels))
    return {&pod, PodFate::kAwaited};
  const std::string name = fmt::format("{}/{}", pod.meta.namespace_.view(), pod.meta.name);
  const OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr && !drain.force)
    return blocked(
        pod, reasons::kUnmanagedPod,
        fmt::format("pod {} has no controller and would be lost; wait until it ends, delete "
                    "it, or set spec.drain.force",
                    name));
  if (pod.has_empty_dir && !drain.delete_empty_dir_data)
    return blocked(
        pod, reasons::kLocalStorage,
        fmt::format("pod {} keeps data in an emptyDir volume; wait until it ends, or set "
                    "spec.drain.deleteEmptyDirData",
                    name));
  if (auto marked = do_not_disrupt(pod))
    return {.pod = &pod, .fate = PodFate::kBlocked, .cause = *std::move(marked)};
  // Its Job counts no failure, so its remaining retries do not matter.
  if (const Job* job = requeued(snapshot, pod)) return requeue(snapshot, pod, *job, node, record);
  if (is_job_pod(pod)) {
    auto share = jobs.find(owner->uid.view());
    if (auto refusal = refuse_job(snapshot, pod, share == jobs.end() ? 1 : share->second))
      return *refusal;
  }
  if (owner == nullptr) return {&pod, PodFate::kEvict};
  return judge_successor(snapshot, pod, node, record);
}

// A controller that fails for good loses the user's job, like the loss of a bare pod. So the same
// field overrides it. The rule also holds when the drain forces a pod off that it waited for.
PodVerdict judge_owner(const Snapshot& snapshot, const DrainSpec& drain, PodVerdict verdict) {
  const Pod& pod = *verdict.pod;
  const bool may_go = verdict.fate == PodFate::kEvict || verdict.fate == PodFate::kAwaited ||
                      verdict.fate == PodFate::kBlocked;
  if (!may_go || drain.force || pod.meta.controller() == nullptr || is_job_pod(pod)) return verdict;
  if (verdict.cause.reason == reasons::kPodStays || verdict.cause.reason == reasons::kOwnPod)
    return verdict;
  std::string stays = queue::Remakers(snapshot.cluster).why_not(pod);
  queue::OwnerLooks looks = queue::look_at_owners(snapshot, {&pod});
  if (stays.empty()) stays = std::move(looks.why);
  if (!looks.all.empty()) verdict.look = std::move(looks.all.front());
  verdict.look_is_due = !looks.open.empty();
  if (stays.empty()) return verdict;
  verdict.cause = {reasons::kOwnerWouldFail, std::move(stays)};
  if (verdict.fate == PodFate::kEvict) verdict.fate = PodFate::kBlocked;
  return verdict;
}

// Returns the budgets that select the pod, by name.
std::vector<const PodDisruptionBudget*> budgets_of(const Snapshot& snapshot, const Pod& pod) {
  std::vector<const PodDisruptionBudget*> found;
  for (const auto& budget : snapshot.cluster.pod_disruption_budgets())
    if (budget->meta.namespace_ == pod.meta.namespace_ && budget->selects(pod))
      found.push_back(budget.get());
  return found;
}

std::string names_of(const std::vector<const PodDisruptionBudget*>& budgets) {
  std::vector<std::string> names;
  for (const PodDisruptionBudget* budget : budgets) names.push_back(budget->meta.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

EvictionOutlook two_budgets(const Pod& pod,
                            const std::vector<const PodDisruptionBudget*>& budgets) {
  return refused(
      reasons::kPodDisruptionBudget,
      fmt::format("{} PodDisruptionBudgets ({}) select pod {}/{}, and the API server evicts no "
                  "pod with more than one; narrow the selector of all but one",
                  budgets.size(), names_of(budgets), pod.meta.namespace_.view(), pod.meta.name));
}

EvictionOutlook closed_budget(const Pod& pod,
                              const std::vector<const PodDisruptionBudget*>& budgets,
                              std::string_view server_says) {
  return refused(
      reasons::kPodDisruptionBudget,
      fmt::format("PodDisruptionBudget {} does not allow evicting pod {}/{}{}{}; berth "
                  "continues once the budget allows a disruption",
                  budgets.empty() ? "(unknown)" : names_of(budgets), pod.meta.namespace_.view(),
                  pod.meta.name, server_says.empty() ? "" : ": ", server_says));
}

// Offline, the budgets' status replaces the API server's answer. The server evicts a pod that is
// not yet running without asking any budget.
EvictionOutlook offline_outlook(const Snapshot& snapshot, const Pod& pod) {
  if (pod.phase == PodPhase::kPending) return {EvictionOutlook::Kind::kYes};
  auto budgets = budgets_of(snapshot, pod);
  if (budgets.size() > 1) return two_budgets(pod, budgets);
  if (budgets.size() == 1 && budgets[0]->disruptions_allowed <= 0)
    return closed_budget(pod, budgets,
                         fmt::format("it needs {} healthy pods and has {}",
                                     budgets[0]->desired_healthy, budgets[0]->current_healthy));
  return {EvictionOutlook::Kind::kYes};
}

EvictionOutlook read_refusal(const Snapshot& snapshot, const Pod& pod, const Error& error) {
  using Kind = EvictionOutlook::Kind;
  switch (classify_eviction(error)) {
    // The pod is gone or leaving, or another pod has the name. The cache will show it.
    case EvictionOutcome::kStarted:
    case EvictionOutcome::kGone:
    case EvictionOutcome::kOtherPod:
    case EvictionOutcome::kNamespaceTerminating:
      return {Kind::kYes};
    case EvictionOutcome::kBudgetExhausted:
    case EvictionOutcome::kBudgetLagging:
      return closed_budget(pod, budgets_of(snapshot, pod),
                           error.causes.empty() ? error.message : error.causes.front().message);
    case EvictionOutcome::kTwoBudgets:
    case EvictionOutcome::kUnknown: {
      // The server sends neither reason nor cause here. Only the budgets distinguish this 500 from
      // others.
      auto budgets = budgets_of(snapshot, pod);
      if (error.kind == ErrorKind::kServer && budgets.size() > 1) return two_budgets(pod, budgets);
      return {};
    }
    case EvictionOutcome::kBudgetController:
    case EvictionOutcome::kForbidden:
    case EvictionOutcome::kRefused:
      return refused(reasons::kEvictionForbidden,
                     fmt::format("the API server refuses to evict pod {}/{}: {}",
                                 pod.meta.namespace_.view(), pod.meta.name, error.message));
    case EvictionOutcome::kThrottled:  // says nothing about the pod
    case EvictionOutcome::kCancelled:
      return {};
  }
  return {};
}

}  // namespace

bool is_own_pod(const Pod& pod, const Settings& settings) {
  return pod.meta.name == settings.own_pod &&
         pod.meta.namespace_ == std::string_view(settings.berth_namespace);
}

std::optional<Cause> do_not_disrupt(const Pod& pod) {
  if (pod.meta.annotations.get(kDoNotDisruptAnnotation) != "true") return std::nullopt;
  return Cause{
      reasons::kDoNotDisrupt,
      fmt::format("pod {}/{} is annotated {}; wait until it ends, or remove the annotation",
                  pod.meta.namespace_.view(), pod.meta.name, kDoNotDisruptAnnotation)};
}

bool must_leave(const Occupant& occupant, DrainScope scope, const Settings& settings) {
  return !occupant.stays && (scope == DrainScope::kAllPods || occupant.uses_gpu) &&
         occupant.namespace_ != std::string_view(settings.agents_namespace);
}

bool is_in_the_way(const Pod& pod, const DrainSpec& drain, const Settings& settings) {
  if (pod.finished()) return false;
  const Occupant occupant = occupant_of(pod);
  return must_leave(occupant, drain.scope, settings) || holds_gpus_and_stays(occupant, settings);
}

std::vector<PodVerdict> pods_leaving(const Snapshot& snapshot, const Node& node,
                                     const DrainSpec& drain) {
  std::vector<const Pod*> pods;
  std::map<std::string_view, std::int64_t> jobs;
  for (const Occupant& occupant : snapshot.cluster.occupants_of(node.meta.name)) {
    if (!must_leave(occupant, drain.scope, snapshot.settings) &&
        !holds_gpus_and_stays(occupant, snapshot.settings))
      continue;
    const Pod* pod = occupant.pod;
    pods.push_back(pod);
    // A terminating pod is not counted as failed yet.
    if (is_job_pod(*pod)) ++jobs[pod->meta.controller()->uid.view()];
  }
  std::ranges::sort(pods, [](const Pod* a, const Pod* b) {
    return std::make_pair(a->meta.namespace_.view(), std::string_view(a->meta.name)) <
           std::make_pair(b->meta.namespace_.view(), std::string_view(b->meta.name));
  });
  std::vector<PodVerdict> verdicts;
  verdicts.reserve(pods.size());
  const RolloutRecord record =
      pods.empty() ? RolloutRecord{} : read_rollout(snapshot.cluster, node);
  for (const Pod* pod : pods)
    verdicts.push_back(
        judge_owner(snapshot, drain, judge(snapshot, *pod, drain, jobs, node, record)));
  return verdicts;
}

Ask ask_of(const Pod& pod) { return {ref_of(pod), pod.meta.resource_version}; }

EvictionOutlook eviction_outlook(const Snapshot& snapshot, const Pod& pod) {
  if (snapshot.offline) return offline_outlook(snapshot, pod);
  const Answer* answer =
      snapshot.answers.find(question(ask_of(pod)), snapshot.now, snapshot.settings.answer_ttl);
  if (answer == nullptr) return {};
  if (answer->yes) return {EvictionOutlook::Kind::kYes};
  EvictionOutlook outlook = read_refusal(snapshot, pod, answer->error);
  const Duration age = std::chrono::floor<Duration>(snapshot.now - answer->at);
  outlook.aging = age >= snapshot.settings.answer_ttl / 2;
  // By its status, the budget has allowed a disruption since.
  if (outlook.cause.reason == reasons::kPodDisruptionBudget &&
      age >= snapshot.settings.eviction_retry &&
      offline_outlook(snapshot, pod).kind == EvictionOutlook::Kind::kYes)
    return {};
  return outlook;
}

}  // namespace berth
