// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/queue_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "controller/fleet/pools.h"

namespace berth {
namespace {

// The API server's default, set in Jobs without a value before a webhook sees them.
constexpr std::string_view kEarlyReplacement = "TerminatingOrFailed";
constexpr std::int64_t kDefaultGrace = 30;  // seconds, the API server's default

}  // namespace

QueueBounds::QueueBounds(const ClusterState& cluster) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  if (policy == nullptr) return;
  allowed_ = policy->spec.admission;
  only_warns_ = allowed_.enforcement != Enforcement::kEnforce;
}

void QueueBounds::refuse(std::string field, std::string message, ReviewFindings& findings) const {
  if (only_warns_)
    findings.warn(std::move(field), std::move(message));
  else
    findings.refuse(std::move(field), std::move(message));
}

void QueueBounds::check_counted(const PodSlice& workload, ReviewFindings& findings) const {
  check_daemon_set(workload, findings);
  check_claims(workload, findings);
}

void QueueBounds::check_daemon_set(const PodSlice& workload, ReviewFindings& findings) const {
  if (allowed_.daemon_sets == Permission::kAllow || !workload.queued.of_daemon_set ||
      !asks_for_gpus(workload))
    return;
  refuse("metadata.ownerReferences",
         "a DaemonSet's pods pass the queue, so they may not ask for GPUs in a managed namespace; "
         "use a Deployment or a Job, or set spec.admission.daemonSets: Allow in the "
         "GPUClusterPolicy",
         findings);
}

void QueueBounds::check_claims(const PodSlice& workload, ReviewFindings& findings) const {
  if (allowed_.resource_claims == Permission::kAllow) return;
  constexpr char kInstead[] =
      "ask for nvidia.com/gpu, or set spec.admission.resourceClaims: Allow in the "
      "GPUClusterPolicy";
  if (workload.has_claims)
    refuse(workload.field("resourceClaims"),
           fmt::format("no queue counts the devices of a claim; {}", kInstead), findings);
  for (const ContainerSlice& container : workload.containers)
    if (!container.class_resource.empty())
      refuse(workload.field(container) + ".resources",
             fmt::format("{} allocates by a claim, and no queue counts its devices; {}",
                         shorten(container.class_resource), kInstead),
             findings);
}

void QueueBounds::check_created(const PodSlice& workload, ReviewFindings& findings) const {
  check_grace(workload, findings);
  if (workload.home == PodHome::kJob && workload.queued.replacement == kEarlyReplacement &&
      sets_replacement())
    refuse_replacement(findings);
}

void QueueBounds::check_changed(const PodSlice& old, const PodSlice& now,
                                ReviewFindings& findings) const {
  if (now.queued.replacement == kEarlyReplacement && old.queued.replacement != kEarlyReplacement &&
      sets_replacement())
    refuse_replacement(findings);
}

void QueueBounds::refuse_replacement(ReviewFindings& findings) const {
  refuse("spec.podReplacementPolicy",
         "TerminatingOrFailed creates new pods while old ones still hold their GPUs, which exceeds "
         "what the queue admitted; write Failed, or set spec.admission.podReplacementPolicy: Any "
         "in the GPUClusterPolicy",
         findings);
}

void QueueBounds::check_grace(const PodSlice& workload, ReviewFindings& findings) const {
  using std::chrono::duration_cast;
  using std::chrono::seconds;
  const std::int64_t most = duration_cast<seconds>(allowed_.max_termination_grace_period).count();
  const std::int64_t grace = workload.grace.value_or(kDefaultGrace);
  if (grace <= most) return;
  refuse(workload.field("terminationGracePeriodSeconds"),
         fmt::format("is {}, and a pod of a queue may keep its GPUs for {} s after it is to end; "
                     "write at most that, or raise spec.admission.maxTerminationGracePeriod in "
                     "the GPUClusterPolicy",
                     grace, most),
         findings);
}

bool asks_for_gpus(const PodSlice& workload) {
  return std::ranges::any_of(workload.containers, [](const ContainerSlice& container) {
    return std::ranges::any_of(container.gpus,
                               [](const GpuAmount& amount) { return amount.asked() > Quantity(); });
  });
}

}  // namespace berth
