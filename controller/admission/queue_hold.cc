// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/queue_hold.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apis/base/names.h"
#include "apis/kinds/gpu_queue.h"
#include "controller/core/json_patch.h"
#include "controller/queue/index/queue_choice.h"
#include "controller/queue/record/admission_record.h"
#include "controller/queue/record/gang_adapters.h"

namespace berth {
namespace {

bool is_admitted_as(std::string_view record, std::string_view uid) {
  if (record.empty() || uid.empty()) return false;
  const auto admitted = queue::decode_admission(record);
  return admitted && admitted->uid == uid;
}

// The pods of an admitted Job carry its admission record, which only berth and the job controller
// write. Any user can write an owner reference, so berth knows a DaemonSet's pod by the requester.
bool is_held_elsewhere(const PodSlice& workload) {
  const QueuedSlice& of = workload.queued;
  if (workload.home == PodHome::kJob) return !of.owner_kind.empty() && of.owner_kind != "CronJob";
  if (!workload.node_name.empty() || of.of_daemon_set) return true;
  return of.owner_kind == "Job" && is_admitted_as(of.admitted, of.owner_uid);
}

void add_label(const QueuedSlice& of, const std::string& queue, PodPatch& patch) {
  if (of.queue == queue) return;
  if (!of.has_labels) patch.add("/metadata/labels", "{}");
  patch.add_text("/metadata/labels/" + escape_pointer(names::kQueueLabel), queue);
}

// The sum of the main containers' requests, or the largest init container's request if higher.
std::map<std::string_view, Quantity> asked_by(const PodSlice& workload) {
  std::map<std::string_view, Quantity> together, initially;
  for (const ContainerSlice& container : workload.containers)
    for (const GpuAmount& amount : container.gpus) {
      if (container.list == ContainerList::kMain)
        together[amount.resource] += amount.asked();
      else
        initially[amount.resource] = std::max(initially[amount.resource], amount.asked());
    }
  for (const auto& [resource, amount] : initially)
    together[resource] = std::max(together[resource], amount);
  return together;
}

// berth would ignore an invalid gang size and admit the pods one by one.
void check_gang(const PodSlice& workload, ReviewFindings& findings) {
  if (workload.home != PodHome::kPod) return;
  const auto check = [&](const char* annotation, std::optional<std::string_view> value, bool good,
                         const char* wanted) {
    if (!value || good) return;
    findings.refuse(fmt::format("metadata.annotations[{}]", annotation),
                    fmt::format("is '{}', and has to be {}", shorten(*value), wanted));
  };
  constexpr char kSize[] = "a whole number of pods, 1 or more";
  const QueuedSlice& of = workload.queued;
  check(names::kPodGroupSizeAnnotation, of.group_size,
        queue::read_gang_size(of.group_size.value_or("")) > 0, kSize);
  check(names::kPodRoleSizeAnnotation, of.role_size,
        queue::read_gang_size(of.role_size.value_or("")) > 0, kSize);
  check(names::kFastAdmissionAnnotation, of.fast, of.fast == "true" || of.fast == "false",
        "true or false");
}

}  // namespace

std::optional<QueueClaim> find_claim(const PodSlice& workload, std::string_view namespace_,
                                     const ClusterState& cluster, const Settings& settings) {
  if (cluster.gpu_queues().size() == 0 || is_held_elsewhere(workload)) return std::nullopt;
  std::string_view label = workload.queued.queue;
  if (label.empty() && settings.kueue_label) label = workload.queued.kueue_queue;
  if (label.empty() && !asks_for_gpus(workload)) return std::nullopt;
  const auto& choice = cluster.view<queue::QueueChoice>();
  QueueClaim claim{.queue = choice.choose(namespace_, label), .label = std::string(label)};
  if (!label.empty()) {
    claim.unknown = !choice.queues().contains(label);
    claim.selects = claim.unknown || choice.selects(label, namespace_);
    if (claim.queue.empty()) claim.queue = label;
  }
  if (claim.queue.empty()) return std::nullopt;
  return claim;
}

void add_hold(const PodSlice& workload, const QueueClaim& claim, const QueueBounds& bounds,
              PodPatch& patch) {
  const QueuedSlice& of = workload.queued;
  add_label(of, claim.queue, patch);
  if (workload.home == PodHome::kJob) {
    if (!of.suspended) patch.add("/spec/suspend", "true");
    if (bounds.sets_replacement() && of.replacement != "Failed")
      patch.add_text("/spec/podReplacementPolicy", "Failed");
    return;
  }
  if (of.gated) return;
  const std::string gate = fmt::format(R"({{"name":"{}"}})", names::kQueueGate);
  if (of.has_gates)
    patch.add("/spec/schedulingGates/-", gate);
  else
    patch.add("/spec/schedulingGates", "[" + gate + "]");
}

void check_claim(const PodSlice& workload, const QueueClaim& claim, std::string_view namespace_,
                 const ClusterState& cluster, ReviewFindings& findings) {
  check_gang(workload, findings);
  const std::string label = fmt::format("metadata.labels[{}]", names::kQueueLabel);
  if (claim.unknown)
    return findings.warn(label, fmt::format("there is no GPUQueue {}; it waits until there is one",
                                            shorten(claim.queue)));
  if (!claim.selects)
    return findings.refuse(
        label,
        fmt::format("GPUQueue {} is not for namespace {}; name one that selects it, or leave "
                    "the label out",
                    shorten(claim.queue), shorten(namespace_)));
  const GPUQueue* queue = cluster.gpu_queues().find(claim.queue);
  if (queue == nullptr || !queue->spec.namespace_quota.enabled) return;
  for (const auto& [resource, asked] : asked_by(workload)) {
    const auto most = queue->spec.namespace_quota.max_per_pod.find(std::string(resource));
    if (most == queue->spec.namespace_quota.max_per_pod.end()) continue;
    if (asked <= Quantity::whole(most->second)) continue;
    findings.refuse(workload.field("containers"),
                    fmt::format("a pod may ask for {} {} in queue {} (maxPerPod), and asks for {}",
                                most->second, shorten(resource), claim.queue, asked.str()));
  }
}

void check_node_unnamed(const PodSlice& workload, std::string_view namespace_,
                        const ClusterState& cluster, ReviewFindings& findings) {
  if (workload.home != PodHome::kPod || workload.node_name.empty()) return;
  const std::string_view label = workload.queued.queue;
  if (label.empty() && !asks_for_gpus(workload)) return;
  const std::string queue = cluster.view<queue::QueueChoice>().choose(namespace_, label);
  if (queue.empty()) return;
  findings.refuse(workload.field("nodeName"),
                  fmt::format("a pod of a queue may not name its node, or it would run past queue "
                              "{}; leave it out, and write a nodeSelector or affinity instead",
                              shorten(queue)));
}

void check_queue_named(const PodSlice& workload, ReviewFindings& findings) {
  if (is_held_elsewhere(workload) || !asks_for_gpus(workload)) return;
  findings.refuse(fmt::format("metadata.labels[{}]", names::kQueueLabel),
                  "the policy wants a queue for whatever asks for GPUs (requireQueue), and the "
                  "namespace has no default; write labels: {gpu.berth.dev/queue: QUEUE}");
}

void keep_suspended(const PodSlice& old, const PodSlice& now, const QueueClaim& claim,
                    PodPatch& patch, ReviewFindings& findings) {
  if (!old.queued.suspended || now.queued.suspended) return;
  patch.add("/spec/suspend", "true");
  findings.warn("spec.suspend",
                fmt::format("queue {} resumes it when its turn has come: berth why job/NAME tells "
                            "what it waits for. Who may `release` gpuqueues may resume it at once "
                            "with kubectl patch, kubectl edit or berth release",
                            shorten(claim.queue)));
}

void check_growth(const PodSlice& old, const PodSlice& now, ReviewFindings& findings) {
  const QueuedSlice &was = old.queued, &is = now.queued;
  if (is.suspended || !is_admitted_as(was.admitted, was.uid)) return;
  if (is.parallelism > was.parallelism)
    findings.refuse("spec.parallelism",
                    fmt::format("was admitted with {} and may only fall while it runs; to raise "
                                "it, set spec.suspend: true with it, and the queue resumes it when "
                                "there is quota for {}",
                                was.parallelism, is.parallelism));
  if (was.active_deadline && (!is.active_deadline || *is.active_deadline > *was.active_deadline))
    findings.refuse("spec.activeDeadlineSeconds",
                    fmt::format("was admitted with {} s and may only fall while it runs, because "
                                "other workloads start by it; to raise it, set spec.suspend: true "
                                "with it, and the queue admits it anew",
                                *was.active_deadline));
}

void check_label_kept(const PodSlice& old, const PodSlice& now, ReviewFindings& findings) {
  const QueuedSlice &was = old.queued, &is = now.queued;
  if (was.queue.empty() || !is.queue.empty()) return;
  if (!was.suspended && !is_admitted_as(was.admitted, was.uid)) return;
  findings.refuse(fmt::format("metadata.labels[{}]", names::kQueueLabel),
                  fmt::format("is {}, and a Job that waits or was admitted keeps its queue; name "
                              "another queue, or delete the Job",
                              shorten(was.queue)));
}

}  // namespace berth
