// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/queue_stillness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "apis/decode.h"
#include "controller/fleet/fit.h"
#include "controller/fleet/node_facts.h"
#include "controller/queue/admission_record.h"
#include "controller/queue/cluster_index.h"
#include "controller/queue/queue_report.h"
#include "controller/queue/reconcile.h"
#include "controller/queue/unbound_pins.h"

namespace berth::explore {
namespace {

template <class T>
void read_all(const sim::Store& store, Time wall, ClusterState& cluster) {
  const sim::ResourceType* type = sim::find_resource_type(kKind<T>.plural);
  if (type == nullptr) return;  // the simulation does not serve it
  for (const sim::ObjectPtr& object : store.list(*type)) {
    std::string text = object->dump();
    Result<T> read = decode_object<T>(text);
    if (!read) throw std::runtime_error(fmt::format("{}: {}", text, describe(read.error())));
    cluster.upsert(*std::move(read), wall);
  }
}

// Whether every pod with a GPU of the node has been pinned to it: nobody else is in the way of
// those that are.
bool has_only_pinned(const ClusterState& cluster, const std::string& node) {
  return std::ranges::all_of(cluster.pods(), [&](const auto& pod) {
    if (pod->node_name.view() != node || pod->finished() || Fit::gpu_resource_of(*pod).empty())
      return true;
    const auto record = queue::admission_on(pod->meta);
    return record && std::ranges::find(record->nodes, node) != record->nodes.end();
  });
}

// Where only what is pinned runs, a pod that is pinned to a node finds its room: else berth has
// promised the node twice. A Job may have been resumed by a person, with an old pin.
std::string unbound_pin(const ClusterState& cluster) {
  for (const auto& pod : cluster.pods()) {
    const auto record = queue::admission_on(pod->meta);
    const bool unbound = pod->node_name.empty() && !pod->terminating() && !pod->shape->gated();
    if (!record || !unbound || record->nodes.empty() || pod->phase != PodPhase::kPending) continue;
    if (record->uid != pod->meta.uid) continue;
    const bool free_of_others = std::ranges::all_of(record->nodes, [&](const std::string& name) {
      const Node* node = cluster.nodes().find(name);
      return node != nullptr && in_service(*node) && has_only_pinned(cluster, name);
    });
    if (free_of_others)
      return fmt::format("{} is pinned to {}, and not bound", ref_of(*pod).str(),
                         fmt::join(record->nodes, ", "));
  }
  return "";
}

}  // namespace

std::string unstill_queues(const sim::Store& store, const Settings& settings, Time wall) {
  if (store.list(*sim::find_resource_type(kKind<GPUQueue>.plural)).empty()) return "";
  ClusterState cluster;
  Watched::each([&]<class T>() { read_all<T>(store, wall, cluster); });
  const Answers answers;
  for (const StatusUpdate& update : reconcile_queues({cluster, answers, settings, wall}).statuses)
    if (update.differs)
      return fmt::format("{} tells what is not so; it would be {}", update.object.str(),
                         update.body);
  const auto& index = cluster.view<queue::ClusterIndex>().facts();
  const queue::Survey survey(index, limits::kMaxPendingWorkloads);
  for (const auto& [name, workload] : index.workloads())
    if (workload.standing.pending && survey.outcome(workload).admitted_to)
      return fmt::format("{} waits, and could be admitted", name);
  for (const queue::Workload* workload : index.with_unbound_pins()) {
    const auto pins = queue::unbound_pins(cluster, *workload);
    if (pins && pins->is_overdue(wall) && pins->stays.empty())
      return fmt::format("{} is pinned, bound nowhere and not taken back", *workload->name);
  }
  return unbound_pin(cluster);
}

}  // namespace berth::explore
