// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "apis/cut.h"
#include "apis/names.h"
#include "apis/printable.h"
#include "apis/reasons.h"
#include "controller/core/merge_patch.h"
#include "controller/core/plural.h"
#include "controller/core/refused_write.h"
#include "controller/fleet/pools.h"
#include "controller/observe/gpu_use.h"
#include "controller/observe/reconcile.h"

namespace berth {
namespace {

constexpr std::size_t kMaxContact = 200;

bool is_told(const Pod& pod) { return pod.meta.annotations.contains(names::kIdleSinceAnnotation); }

Write annotate(const Pod& pod, Time since) {
  return {.verb = Verb::kMergePatch,
          .object = ref_of(pod),
          .body = MergePatch::same_object(pod.meta)
                      .annotation(names::kIdleSinceAnnotation, format_time(since))
                      .str(),
          .field_manager = names::kManagerPolicy,
          .reason = "tell that its GPUs are idle"};
}

Write take_back(const Pod& pod) {
  return {
      .verb = Verb::kMergePatch,
      .object = ref_of(pod),
      .body =
          MergePatch::same_object(pod.meta).without_annotation(names::kIdleSinceAnnotation).str(),
      .field_manager = names::kManagerPolicy,
      .reason = "its GPUs are no longer told to be idle"};
}

// Whom the namespace names, for whoever reads the event far from it.
std::string contact_of(const Snapshot& snapshot, const Pod& pod) {
  const Namespace* home = snapshot.cluster.namespaces().find(pod.meta.namespace_.view());
  const Text* contact =
      home != nullptr ? home->meta.annotations.find(names::kContactAnnotation) : nullptr;
  if (contact == nullptr || contact->empty()) return {};
  return "; " + printable(cut(contact->str(), kMaxContact)) + " answers for the namespace";
}

EventNote tell(const Snapshot& snapshot, const PodUse& use, const IdleSpec& idle) {
  const std::string gpus =
      use.gpus == 1 ? "its GPU has" : fmt::format("its {} GPUs have", use.gpus);
  return {.regarding = ref_of(*use.pod),
          .warning = true,
          .reason = reasons::kGpusIdle,
          .action = "Notify",
          .note = fmt::format("{} been used less than {}% since {}, for {} at least{}", gpus,
                              idle.utilization_threshold, format_time(*use.since),
                              format_duration_short(idle.grace_period),
                              contact_of(snapshot, *use.pod))};
}

// Whoever does more tells as well.
bool tells(const IdleSpec& idle) { return idle.policy != IdlePolicy::kObserve; }

}  // namespace

Plan reconcile_idle(const Snapshot& snapshot) {
  Plan plan;
  const GPUClusterPolicy* policy = find_policy(snapshot.cluster);
  // Before the first round nobody knows whether what stands is still true.
  if (policy != nullptr && !snapshot.samples.measured_at) return plan;
  std::unordered_map<const Pod*, UseState> standing;
  if (policy != nullptr && tells(policy->spec.idle)) {
    const GpuUse use = survey_use(snapshot, *policy);
    for (const PodUse& pod : use.pods) {
      if (is_excluded(policy->spec.idle, *pod.pod)) continue;
      standing.emplace(pod.pod, pod.standing);
      if (pod.standing != UseState::kIdle || is_told(*pod.pod) || pod.pod->terminating()) continue;
      plan.add(ref_of(*pod.pod), annotate(*pod.pod, *pod.since));
      plan.events.push_back(tell(snapshot, pod, policy->spec.idle));
    }
    if (use.next_in) plan.requeue_in(*use.next_in);
  }
  // Not measured, and a window that has only begun, as after a restart, are no reason to take back
  // what was true.
  for (const auto& pod : snapshot.cluster.pods()) {
    if (!is_told(*pod)) continue;
    const auto found = standing.find(pod.get());
    const bool asked =
        policy != nullptr && tells(policy->spec.idle) && !is_excluded(policy->spec.idle, *pod);
    if (!asked || (found != standing.end() && found->second == UseState::kBusy))
      plan.add(ref_of(*pod), take_back(*pod));
  }
  return plan;
}

}  // namespace berth
