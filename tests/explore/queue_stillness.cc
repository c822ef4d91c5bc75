// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/queue_stillness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "controller/fleet/fit.h"
#include "controller/fleet/node_facts.h"
#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/named.h"
#include "controller/queue/recall/displaced.h"
#include "controller/queue/recall/drained.h"
#include "controller/queue/recall/never_ready.h"
#include "controller/queue/recall/owner_looks.h"
#include "controller/queue/recall/stranded.h"
#include "controller/queue/recall/unbound_pins.h"
#include "controller/queue/record/admission_record.h"
#include "controller/queue/record/setback.h"
#include "controller/queue/status/reconcile.h"
#include "tests/explore/whole_store.h"

namespace berth::explore {
namespace {

// Whether all GPU pods on the node are pinned to it, so that no other pod blocks the pinned ones.
bool has_only_pinned(const ClusterState& cluster, const std::string& node) {
  return std::ranges::all_of(cluster.pods(), [&](const auto& pod) {
    if (pod->node_name.view() != node || pod->finished() || Fit::gpu_resource_of(*pod).empty())
      return true;
    const auto record = queue::admission_on(pod->meta);
    return record && std::ranges::find(record->nodes, node) != record->nodes.end();
  });
}

// If only pinned pods run on a node, a pinned pod must fit; otherwise berth has promised the node
// twice. A user may have resumed a Job with an old pin.
std::string unbound_pin(const ClusterState& cluster) {
  for (const auto& pod : cluster.pods()) {
    const auto record = queue::admission_on(pod->meta);
    const bool unbound = pod->node_name.empty() && !pod->terminating() && !pod->shape->gated();
    if (!record || !unbound || record->nodes.empty() || pod->phase != PodPhase::kPending) continue;
    if (record->uid != pod->meta.uid) continue;
    const bool free_of_others = std::ranges::all_of(record->nodes, [&](const std::string& name) {
      const Node* node = cluster.nodes().find(name);
      return node != nullptr && is_here_to_stay(*node) && has_only_pinned(cluster, name);
    });
    if (free_of_others)
      return fmt::format("{} is pinned to {}, and not bound", ref_of(*pod).str(),
                         fmt::join(record->nodes, ", "));
  }
  return "";
}

// The terms with the API server's answers about the possible victims.
queue::PreemptionTerms terms_of(const Snapshot& snapshot) {
  queue::PreemptionTerms terms = queue::preemption_terms(snapshot);
  terms.may_go = [may_go = terms.may_go, &cluster = snapshot.cluster](const queue::Workload& of) {
    const auto& index = cluster.view<queue::ClusterIndex>();
    const auto is_kept = [&](const Pod* pod) {
      return std::ranges::any_of(cluster.pod_disruption_budgets(), [&](const auto& budget) {
        return !of.job && budget->disruptions_allowed == 0 &&
               budget->meta.namespace_ == pod->meta.namespace_.view() && budget->selects(*pod);
      });
    };
    return may_go(of) && std::ranges::none_of(pods_of(cluster, index, *of.name), is_kept);
  };
  return terms;
}

// Each controller that decides about its pods, read from the API server's object.
Answers read_owners(const sim::Store& store, const ClusterState& cluster, const Settings& settings,
                    Time wall) {
  Answers answers;
  const Answers none;
  for (const auto& pod : cluster.pods()) {
    for (const Guard& look :
         queue::look_at_owners({cluster, none, settings, wall}, {pod.get()}).all) {
      const sim::ResourceType* type = sim::find_resource_type(look.kind->plural);
      const sim::ObjectPtr object =
          type == nullptr ? nullptr : store.find({type, look.node.namespace_, look.node.name});
      const auto refusal = object == nullptr
                               ? look.refuse_object(Error{.kind = ErrorKind::kNotFound})
                               : look.refuse_object(object->dump());
      answers.put(
          question(look),
          {.yes = !refusal, .error = {ErrorKind::kConflict, refusal.value_or("")}, .at = wall});
    }
  }
  return answers;
}

// Workloads that berth must still stop or requeue.
std::string untaken(const Snapshot& snapshot, const queue::Workload& workload) {
  const ClusterState& cluster = snapshot.cluster;
  const auto goes = [&](const std::vector<const Pod*>& pods) {
    return !pods.empty() && queue::look_at_owners(snapshot, pods).kept == nullptr;
  };
  const auto gang = queue::drained(cluster, workload);
  if (gang && goes(gang->recalled)) return gang->why + ", and it is not taken back";
  const auto stands = queue::stranded(cluster, workload);
  if (stands && (stands->requeued != nullptr || goes(stands->recalled)))
    return fmt::format("stands where it can't stay, {}, and is not taken back", stands->why);
  const auto late = queue::never_ready(cluster, workload);
  if (late && (late->requeued != nullptr || goes(late->recalled)))
    return "has pods that are not Ready yet";
  if (workload.recall && workload.recall->leaves_out() && workload.recall->until != 0)
    return "is left out for a while";
  if (workload.recall && !workload.standing.pending) return "has a mark that is to go";
  const bool aside = workload.job && workload.job->setbacks > 0;
  if (!aside) return "";
  const Job* job = queue::find_named(cluster.jobs(), *workload.name);
  return queue::setback_on(job->meta)->until ? "is left out for a while" : "";
}

// Workloads that were never admitted may be in another workload's place.
bool all_were_admitted(const ClusterState& cluster) {
  return std::ranges::all_of(cluster.pods(), [](const auto& pod) {
    return pod->node_name.empty() || pod->finished() || Fit::gpu_resource_of(*pod).empty() ||
           queue::admission_on(pod->meta);
  });
}

// An elastic pool must not get more admissions than its possible nodes can hold.
std::string outgrown(const ClusterState& cluster, const queue::FactsIndex& index) {
  const queue::NodeRoom& room = index.room();
  if (!all_were_admitted(cluster)) return "";
  for (queue::PoolId pool = 0; pool < index.catalog().pools(); ++pool) {
    std::int64_t largest = 0, asked = 0, out = 0;
    for (const queue::NodeId id : room.in_order()) {
      const queue::NodeRoom::Node& node = room.node_at(id);
      if (node.pool != pool) continue;
      out += node.in_service ? 0 : 1;  // a node may have come, and be cordoned since
      for (const auto& [resource, weight] : node.weights)
        largest = std::max(largest, node.offers[resource]);
    }
    for (const auto& [shape, pods] : room.claimants(pool))
      asked += pods * index.catalog().device_amount(shape);
    const auto nodes = room.nodes_to_come(pool);
    if (nodes && largest > 0 && asked > (*nodes + out) * largest)
      return fmt::format("pool {} may get {} nodes of {} GPUs, and {} GPUs are let go for them",
                         index.catalog().pool_name(pool), *nodes, largest, asked);
  }
  return "";
}

}  // namespace

std::string unstill_queues(const sim::Store& store, const Settings& settings, Time wall) {
  if (store.list(*sim::find_resource_type(kKind<GPUQueue>.plural)).empty()) return "";
  ClusterState cluster;
  read_whole(store, wall, cluster);
  const Answers answers = read_owners(store, cluster, settings, wall);
  for (const StatusUpdate& update :
       queue::reconcile_queues({cluster, answers, settings, wall}).statuses)
    if (update.differs)
      return fmt::format("{} tells what is not so; it would be {}", update.object.str(),
                         update.body);
  const auto& index = cluster.view<queue::ClusterIndex>().facts();
  const Snapshot snapshot{cluster, answers, settings, wall};
  const queue::Survey survey(index, limits::kMaxPendingWorkloads, terms_of(snapshot));
  for (const auto& [name, workload] : index.workloads())
    if (workload.standing.pending && survey.outcome(workload).admitted_to)
      return fmt::format("{} waits, and could be admitted", name);
  for (const queue::Workload* workload : index.with_unbound_pins()) {
    const auto pins = queue::unbound_pins(cluster, *workload);
    // A new leader gives it the whole time again.
    if (pins && wall >= pins->until + (pins->until - pins->since) && pins->stays.empty())
      return fmt::format("{} is pinned, bound nowhere and not taken back", *workload->name);
  }
  for (const auto& [name, workload] : index.workloads())
    if (std::string late = untaken(snapshot, workload); !late.empty())
      return fmt::format("{} {}", name, late);
  if (std::string more = outgrown(cluster, index); !more.empty()) return more;
  return unbound_pin(cluster);
}

}  // namespace berth::explore
