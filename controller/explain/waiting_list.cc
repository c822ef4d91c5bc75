// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/waiting_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "controller/admission/pod_slice.h"
#include "controller/explain/explain_pod.h"
#include "controller/explain/explain_workload.h"

namespace berth {
namespace {

bool waits_for_gpu(const Pod& pod) {
  return pod.node_name.empty() && !pod.finished() && !pod.terminating() &&
         (uses_gpu(pod) || !pod.shape->requests.get(kLegacyGpu).is_zero());
}

bool wants_pods(const Clues& clues, const WorkloadName& workload) {
  return std::ranges::none_of(clues.workloads, [&](const Workload& w) {
    return w.kind == workload.kind && w.namespace_ == workload.namespace_ &&
           w.name == workload.name && w.replicas == 0;
  });
}

// For a Deployment and its ReplicaSet only the Deployment; for other refusals the workload itself.
std::vector<WorkloadName> refused_in(const ClusterState& cluster, std::string_view namespace_,
                                     const Clues& clues) {
  std::vector<WorkloadName> out;
  const auto add = [&](const std::string& kind, const std::string& where, const std::string& name) {
    if (!namespace_.empty() && where != namespace_) return;
    WorkloadName workload{kind, where, name};
    for (const Workload& set : clues.workloads)
      for (const Workload& owner : clues.workloads)
        if (set.kind == kind && set.namespace_ == where && set.name == name &&
            !set.owner_uid.empty() && set.owner_uid == owner.uid)
          workload = {owner.kind, owner.namespace_, owner.name};
    const bool known = std::ranges::any_of(out, [&](const WorkloadName& other) {
      return other.kind == workload.kind && other.namespace_ == workload.namespace_ &&
             other.name == workload.name;
    });
    if (!known) out.push_back(std::move(workload));
  };
  for (const Workload& workload : clues.workloads)
    if (!workload.failure.empty()) add(workload.kind, workload.namespace_, workload.name);
  // Events outlive their cause: uses only those of workloads without pods.
  for (const RefusalEvent& event : clues.refusals) {
    const WorkloadName about{event.object_kind, event.namespace_, event.object_name};
    if (exists(cluster, clues, about) && wants_pods(clues, about) &&
        pods_of(cluster, clues, about).empty())
      add(about.kind, about.namespace_, about.name);
  }
  return out;
}

// Kinds that this account may not list there and that may wait, too.
std::vector<std::string> not_listed(std::string_view namespace_, const Clues& clues) {
  std::vector<std::string> out;
  for (const char* resource : {"pods", "jobs.batch", "deployments.apps", "replicasets.apps",
                               "statefulsets.apps", "events"}) {
    const Unread* unread = clues.find_unread(resource);
    if (unread == nullptr || unread->reason == "NotFound") continue;
    const bool there =
        !unread->instead.empty() && (namespace_.empty() || unread->instead == namespace_);
    if (!there) out.emplace_back(resource);
  }
  return out;
}

}  // namespace

WaitingList list_waiting(const Snapshot& snapshot, std::string_view namespace_,
                         const Clues& clues) {
  WaitingList list;
  list.of_all_namespaces = namespace_.empty();
  list.where = namespace_.empty() ? "all namespaces that this account may read"
                                  : fmt::format("namespace {}", namespace_);
  if (namespace_.empty() && clues.knows("pods")) list.where = "all namespaces";
  const Fit fit(snapshot.cluster);
  const QueueWhy queues(snapshot, clues);
  for (const auto& pod : snapshot.cluster.pods())
    if ((namespace_.empty() || pod->meta.namespace_ == namespace_) && waits_for_gpu(*pod))
      list.items.push_back(explain_pod(snapshot, *pod, clues, fit, queues));
  for (const WorkloadName& workload : refused_in(snapshot.cluster, namespace_, clues))
    list.items.push_back(explain_workload(snapshot, workload, clues, queues));
  for (const Job* job : queues.waiting_jobs(namespace_))
    list.items.push_back(explain_workload(
        snapshot, {"Job", job->meta.namespace_.str(), job->meta.name}, clues, queues));
  std::ranges::stable_sort(list.items, {}, [](const Explanation& e) {
    return std::make_tuple(e.subject.namespace_, e.subject.kind, e.subject.name);
  });
  for (Explanation& item : list.items) item.rights = {};
  list.not_listed = not_listed(namespace_, clues);
  list.rights = missing_rights(clues.unread, RightsFor::kPod, snapshot.settings);
  return list;
}

}  // namespace berth
