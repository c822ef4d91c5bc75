// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/recall/stranded.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "controller/fleet/node_facts.h"
#include "controller/fleet/pod_selects.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/index/named.h"
#include "controller/queue/recall/gang_recall.h"
#include "controller/queue/recall/requeue.h"
#include "controller/queue/record/admission_record.h"

namespace berth::queue {
namespace {

bool names(const AdmissionFact& record, const std::string& node) {
  return std::ranges::find(record.nodes, node) != record.nodes.end();
}

// A node that no queue has chosen may be so new that berth does not know it yet.
std::string why_going(const ClusterState& cluster, const AdmissionFact& record,
                      const std::string& name) {
  const Node* node = cluster.nodes().find(name);
  if (node == nullptr) return names(record, name) ? fmt::format("node {} is gone", name) : "";
  const std::string mark = deletion_mark(*node);
  return mark.empty() ? "" : fmt::format("node {} is about to go ({})", name, mark);
}

// Whether kube-scheduler chose the node, and might choose it again for a re-created pod.
bool would_return(const ClusterState& cluster, const AdmissionFact& record, const berth::Pod& pod) {
  const Node* node = cluster.nodes().find(pod.node_name.view());
  return record.nodes.empty() && node != nullptr && tolerates_taints(pod, *node);
}

std::set<std::string> nodes_of(const FactsIndex& facts, const Workload& workload) {
  std::set<std::string> nodes;
  if (!workload.pods) return nodes;
  // Unique ids first, because a gang has many pods and each change of one asks again.
  std::vector<NodeId> ids;
  for (const Pod* pod : workload.pods->all)
    if (pod->on_node()) ids.push_back(pod->node);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  for (const NodeId id : ids) nodes.insert(facts.room().node_name(id));
  const AdmissionFact& record = *workload.job->admitted;
  if (workload.standing.unbound_pins > 0) nodes.insert(record.nodes.begin(), record.nodes.end());
  return nodes;
}

// Finds the first of its nodes that goes, and its pods on other nodes.
Stranded look_at(const ClusterState& cluster, const Workload& workload, const berth::Job& job) {
  Stranded out;
  const AdmissionFact& record = *workload.job->admitted;
  const FactsIndex& facts = cluster.view<ClusterIndex>().facts();
  std::set<std::string> going;
  for (const std::string& node : nodes_of(facts, workload)) {
    std::string why = why_going(cluster, record, node);
    if (why.empty()) continue;
    going.insert(node);
    if (out.why.empty()) out.why = std::move(why);
  }
  if (going.empty()) return out;
  for (const berth::Pod* pod : bound_pods(cluster, job)) {
    if (!going.contains(pod->node_name.str()))
      out.elsewhere.push_back(pod);
    else if (would_return(cluster, record, *pod))
      out.stays = fmt::format("pod {} tolerates the taint", pod->meta.name);
  }
  return out;
}

// Returns the node of the pod, or the node that it is pinned to.
std::string place_of(const berth::Pod& pod, const AdmissionFact& record) {
  if (!pod.node_name.empty()) return pod.node_name.str();
  return record.nodes.empty() ? "" : record.nodes.front();
}

Stranded look_at_gang(const ClusterState& cluster, const Workload& workload) {
  Stranded out;
  std::vector<const berth::Pod*> round =
      round_of(cluster, workload, workload.standing.admission->since);
  for (const berth::Pod* pod : round) {
    const auto record = admission_on(*pod);
    std::string why = why_going(cluster, *record, place_of(*pod, *record));
    if (why.empty() && !pod->node_name.empty() && !pod->terminating()) out.elsewhere.push_back(pod);
    if (!why.empty() && would_return(cluster, *record, *pod))
      out.stays = fmt::format("pod {} tolerates the taint", pod->meta.name);
    if (out.why.empty()) out.why = std::move(why);
  }
  if (out.why.empty() || !out.stays.empty()) return out;
  out.stays = why_gang_stays(cluster, workload, round, out.elsewhere);
  if (out.stays.empty()) out.recalled = std::move(round);
  return out;
}

}  // namespace

std::optional<Stranded> stranded(const ClusterState& cluster, const Workload& workload) {
  if (is_gang_of_several(workload)) {
    Stranded gang = look_at_gang(cluster, workload);
    return gang.why.empty() ? std::nullopt : std::optional(std::move(gang));
  }
  const bool runs = workload.job && !workload.job->suspended && workload.job->admitted;
  const berth::Job* job = runs ? find_named(cluster.jobs(), *workload.name) : nullptr;
  if (job == nullptr) return std::nullopt;
  Stranded out = look_at(cluster, workload, *job);
  if (out.why.empty()) return std::nullopt;
  if (!out.stays.empty()) return out;
  if (requeued_of(cluster, workload) == nullptr) {
    out.stays = "its queue would not let it go again";
  } else if (const auto overdraft = find_overdraft(cluster, out.elsewhere)) {
    out.stays = fmt::format("PodDisruptionBudget {} keeps others of its pods",
                            overdraft->budget->meta.name);
  } else {
    out.requeued = job;
  }
  return out;
}

std::vector<std::string> stranded_on(const ClusterState& cluster, const std::string& node) {
  const Node* standing = cluster.nodes().find(node);
  if (standing != nullptr && deletion_mark(*standing).empty()) return {};
  std::set<std::string> workloads;
  for (const berth::Pod* pod : cluster.pods_on(node)) workloads.insert(workload_name(*pod));
  for (const Workload* workload : cluster.view<ClusterIndex>().facts().with_unbound_pins()) {
    const AdmissionFact* admission = admission_of(*workload);
    if (admission != nullptr && names(*admission, node)) workloads.insert(*workload->name);
  }
  return {workloads.begin(), workloads.end()};
}

}  // namespace berth::queue
