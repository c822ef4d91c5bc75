// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <unordered_map>

#include "apis/base/cut.h"
#include "apis/base/names.h"
#include "apis/base/printable.h"
#include "apis/base/reasons.h"
#include "controller/core/merge_patch.h"
#include "controller/core/plural.h"
#include "controller/core/refused_write.h"
#include "controller/core/seeded_bugs.h"
#include "controller/fleet/pools.h"
#include "controller/fleet/recut.h"
#include "controller/observe/gpu_use.h"
#include "controller/observe/idle_owners.h"
#include "controller/observe/idle_pods.h"
#include "controller/observe/reconcile.h"

namespace berth {
namespace {

constexpr std::size_t kMaxContact = 200;

bool is_told(const Pod& pod) { return pod.meta.annotations.contains(names::kIdleSinceAnnotation); }
bool is_warned(const Pod& pod) {
  return pod.meta.annotations.contains(names::kReclaimAfterAnnotation);
}

// Adds the annotations. Annotation idle-since stays as it is if the pod has it.
Write annotate(const Pod& pod, Time since, std::optional<Time> taken_from) {
  MergePatch patch = MergePatch::same_object(pod.meta);
  if (!is_told(pod)) patch.annotation(names::kIdleSinceAnnotation, format_time(since));
  if (taken_from) patch.annotation(names::kReclaimAfterAnnotation, format_time(*taken_from));
  return {.verb = Verb::kMergePatch,
          .object = ref_of(pod),
          .body = patch.str(),
          .field_manager = names::kManagerPolicy,
          .reason = "tell that its GPUs are idle"};
}

// Removes both annotations, or only the warning.
Write take_back(const Pod& pod, bool all) {
  MergePatch patch = MergePatch::same_object(pod.meta);
  if (all && is_told(pod)) patch.without_annotation(names::kIdleSinceAnnotation);
  if (is_warned(pod)) patch.without_annotation(names::kReclaimAfterAnnotation);
  return {.verb = Verb::kMergePatch,
          .object = ref_of(pod),
          .body = patch.str(),
          .field_manager = names::kManagerPolicy,
          .reason = all ? "its GPUs are no longer told to be idle"
                        : "its GPUs are no longer to be taken back"};
}

// Names the contact in the namespace's annotation, for a reader of the event who does not know the
// namespace.
std::string contact_of(const Snapshot& snapshot, const Pod& pod) {
  const Namespace* home = snapshot.cluster.namespaces().find(pod.meta.namespace_.view());
  const Text* contact =
      home != nullptr ? home->meta.annotations.find(names::kContactAnnotation) : nullptr;
  if (contact == nullptr || contact->empty()) return {};
  return "; " + printable(cut(contact->str(), kMaxContact)) + " answers for the namespace";
}

std::string what_follows(const IdleSpec& idle, std::optional<Time> taken_from) {
  if (!taken_from) return "";
  return idle.policy == IdlePolicy::kAlways
             ? "; they are taken back at " + format_time(*taken_from)
             : fmt::format("; from {} on they may be taken back for work that waits",
                           format_time(*taken_from));
}

// Names what else the pod's slice could be, for users who wait for another slice.
std::string instead_of(const Snapshot& snapshot, const Pod& pod) {
  const Node* node = snapshot.cluster.nodes().find(pod.node_name.view());
  const std::string could_be = node != nullptr ? describe_recuts(*node, pod) : "";
  return could_be.empty() ? "" : "; " + could_be;
}

std::string what_it_costs(const PodUse& use, const PodPrice& price) {
  const std::string month = price ? price(*use.pod) : "";
  if (month.empty()) return "";
  return fmt::format("; {} {} a month", use.gpus == 1 ? "it costs" : "they cost", month);
}

EventNote tell(const Snapshot& snapshot, const PodUse& use, const IdleSpec& idle,
               const PodPrice& price, std::optional<Time> taken_from) {
  const std::string gpus =
      use.gpus == 1 ? "its GPU has" : fmt::format("its {} GPUs have", use.gpus);
  return {.regarding = ref_of(*use.pod),
          .warning = true,
          .reason = reasons::kGpusIdle,
          .action = "Notify",
          .note = fmt::format("{} been used less than {}% since {}, for {} at least{}{}{}{}", gpus,
                              idle.utilization_threshold, format_time(*use.since),
                              format_duration_short(idle.grace_period), what_it_costs(use, price),
                              what_follows(idle, taken_from), contact_of(snapshot, *use.pod),
                              instead_of(snapshot, *use.pod))};
}

// The policies that reclaim GPUs notify, too.
bool tells(const IdleSpec& idle) { return idle.policy != IdlePolicy::kObserve; }

// Returns from when on the pod's GPUs may be reclaimed, if berth has to write it: the pod has no
// such time, or a later one than berth would write now. The pod always gets the whole warning time,
// however long it has been idle.
std::optional<Time> new_warning(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                const Pod& pod) {
  if (!may_lose_gpus(policy, snapshot.settings, pod) || !is_confirmed(snapshot, policy, pod))
    return std::nullopt;
  const Time from =
      std::chrono::ceil<std::chrono::seconds>(snapshot.now + policy.spec.idle.warn_after);
  const std::optional<Time> told = reclaim_after(pod);
  if (told && *told <= from) return std::nullopt;
  return from;
}

using Standings = std::unordered_map<const Pod*, UseState>;

// Annotates and reports each idle pod that lacks an annotation.
Standings plan_tellings(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                        const PodPrice& price, Plan& plan) {
  Standings standing;
  const IdleSpec& idle = policy.spec.idle;
  const GpuUse use = survey_use(snapshot, policy);
  IdleOwners owners;
  for (const PodUse& pod : use.pods) {
    if (is_excluded(idle, *pod.pod)) continue;
    standing.emplace(pod.pod, pod.standing);
    if (pod.standing != UseState::kIdle || pod.pod->terminating()) continue;
    const std::optional<Time> taken_from = new_warning(snapshot, policy, *pod.pod);
    if (is_told(*pod.pod) && !taken_from) continue;
    plan.add(ref_of(*pod.pod), annotate(*pod.pod, *pod.since, taken_from));
    plan.events.push_back(tell(snapshot, pod, idle, price, taken_from));
    owners.add(snapshot, pod);
  }
  const auto tail = [&](const Pod& of) {
    return what_follows(idle, new_warning(snapshot, policy, of)) + contact_of(snapshot, of);
  };
  owners.tell(tail, plan);
  if (use.next_in) plan.requeue_in(*use.next_in);
  return standing;
}

// A pod keeps its annotations while it is not measured, or not yet for a whole window, as after a
// restart.
void plan_takings_back(const Snapshot& snapshot, const GPUClusterPolicy* policy,
                       const Standings& standing, Plan& plan) {
  for (const auto& pod : snapshot.cluster.pods()) {
    if (pod->finished() || (!is_told(*pod) && !is_warned(*pod))) continue;
    const auto found = standing.find(pod.get());
    const bool asked =
        policy != nullptr && tells(policy->spec.idle) && !is_excluded(policy->spec.idle, *pod);
    const bool busy = found != standing.end() && found->second == UseState::kBusy;
    if (!asked || (busy && !seeded(SeededBug::kKeepWarning)))
      plan.add(ref_of(*pod), take_back(*pod, true));
    else if (is_warned(*pod) && !may_lose_gpus(*policy, snapshot.settings, *pod))
      plan.add(ref_of(*pod), take_back(*pod, false));
  }
}

}  // namespace

Plan reconcile_idle(const Snapshot& snapshot, const PodPrice& price) {
  Plan plan;
  const GPUClusterPolicy* policy = find_policy(snapshot.cluster);
  // Before the first round berth does not know whether the annotations are still true.
  if (policy != nullptr && !snapshot.samples.measured_at) return plan;
  Standings standing;
  if (policy != nullptr && tells(policy->spec.idle))
    standing = plan_tellings(snapshot, *policy, price, plan);
  plan_takings_back(snapshot, policy, standing, plan);
  return plan;
}

}  // namespace berth
