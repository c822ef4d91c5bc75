// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/explain_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/reasons.h"

namespace berth {
namespace {

const Workload* find(const Clues& clues, const WorkloadName& name) {
  const auto found = std::ranges::find_if(clues.workloads, [&](const Workload& w) {
    return w.kind == name.kind && w.namespace_ == name.namespace_ && w.name == name.name;
  });
  return found == clues.workloads.end() ? nullptr : &*found;
}

// A ReplicaSet has the name of its Deployment and a hash of the template.
bool is_named_after(std::string_view replica_set, std::string_view deployment) {
  if (!replica_set.starts_with(deployment)) return false;
  replica_set.remove_prefix(deployment.size());
  return replica_set.starts_with('-') && replica_set.size() > 1 &&
         replica_set.find('-', 1) == replica_set.npos;
}

bool is_of(const Clues& clues, const WorkloadName& deployment, std::string_view replica_set) {
  const Workload* set =
      find(clues, {"ReplicaSet", deployment.namespace_, std::string(replica_set)});
  const Workload* own = find(clues, deployment);
  if (set != nullptr && own != nullptr) return set->owner_uid == own->uid;
  return is_named_after(replica_set, deployment.name);
}

bool is_its(const Clues& clues, const WorkloadName& workload, std::string_view namespace_,
            std::string_view kind, std::string_view name) {
  if (namespace_ != workload.namespace_) return false;
  if (kind == workload.kind) return name == workload.name;
  return workload.kind == "Deployment" && kind == "ReplicaSet" && is_of(clues, workload, name);
}

// As users type it.
std::string short_kind(const WorkloadName& workload) {
  std::string out = workload.kind;
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

void explain_refusal(const WorkloadName& workload, std::string_view words, Explanation& out) {
  constexpr std::string_view kIntroduction = "Error creating: ";
  if (words.starts_with(kIntroduction)) words.remove_prefix(kIntroduction.size());
  out.state = "Refused";
  out.reason = reasons::kFailedCreate;
  out.message = fmt::format("its pods are refused: {}", words);
  out.remedies.push_back(
      {"change in its pod template what the refusal names; Kubernetes tries again by itself",
       fmt::format("kubectl edit {} -n {} {}", short_kind(workload), workload.namespace_,
                   workload.name),
       {}});
}

}  // namespace

bool exists(const ClusterState& cluster, const Clues& clues, const WorkloadName& workload) {
  if (workload.kind == "Job")
    return cluster.jobs().find(workload.namespace_, workload.name) != nullptr;
  return find(clues, workload) != nullptr;
}

std::vector<const Pod*> pods_of(const ClusterState& cluster, const Clues& clues,
                                const WorkloadName& workload) {
  std::vector<const Pod*> pods;
  for (const auto& pod : cluster.pods()) {
    const OwnerReference* owner = pod->meta.controller();
    if (owner != nullptr && is_its(clues, workload, pod->meta.namespace_.view(), owner->kind.view(),
                                   owner->name.view()))
      pods.push_back(pod.get());
  }
  return pods;
}

std::string refusal_of(const Clues& clues, const WorkloadName& workload) {
  for (const Workload& w : clues.workloads)
    if (!w.failure.empty() && is_its(clues, workload, w.namespace_, w.kind, w.name))
      return w.failure;
  const RefusalEvent* last = nullptr;
  for (const RefusalEvent& event : clues.refusals)
    if (is_its(clues, workload, event.namespace_, event.object_kind, event.object_name) &&
        (last == nullptr || event.last > last->last))
      last = &event;
  return last == nullptr ? std::string() : last->message;
}

Explanation explain_workload(const Snapshot& snapshot, const WorkloadName& workload,
                             const Clues& clues, const QueueWhy& queues) {
  Explanation out;
  out.subject = {workload.kind, workload.namespace_, workload.name, ""};
  out.rights = missing_rights(clues.unread, RightsFor::kPod, snapshot.settings);
  const Workload* object = find(clues, workload);
  const Job* job = workload.kind == "Job"
                       ? snapshot.cluster.jobs().find(workload.namespace_, workload.name)
                       : nullptr;
  if (object != nullptr) out.subject.uid = object->uid;
  if (job != nullptr) out.subject.uid = job->meta.uid;
  const std::size_t pods = pods_of(snapshot.cluster, clues, workload).size();
  if (pods > 0)
    out.add("pods",
            fmt::format("{} there already", pods == 1 ? "1 is" : fmt::format("{} are", pods)));
  if (const std::string words = refusal_of(clues, workload); !words.empty()) {
    explain_refusal(workload, words, out);
    return out;
  }
  out.state = "NoPods";
  if (object != nullptr && object->replicas == 0) {
    out.reason = reasons::kScaledToZero;
    out.message = "it asks for no pods: spec.replicas is 0";
  } else if (job != nullptr && job->suspended) {
    out.reason = reasons::kSuspended;
    out.message = "it makes no pods while spec.suspend is true";
  } else if (object != nullptr && object->paused) {
    out.reason = reasons::kPaused;
    out.message = "it makes no pods of its new template while spec.paused is true";
  } else {
    out.reason = reasons::kNoPodsYet;
    out.message = "it has no pod, and neither a condition nor an event says why";
    out.remedies.push_back({"look at its events",
                            fmt::format("kubectl describe {} -n {} {}", short_kind(workload),
                                        workload.namespace_, workload.name),
                            {}});
  }
  if (job != nullptr) queues.note(*job, out);
  return out;
}

Explanation explain_workload(const Snapshot& snapshot, const WorkloadName& workload,
                             const Clues& clues) {
  return explain_workload(snapshot, workload, clues, QueueWhy(snapshot, clues));
}

}  // namespace berth
