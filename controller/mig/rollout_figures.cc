// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/rollout_figures.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "apis/base/names.h"
#include "controller/disruption/capacity_guard.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/rollouts.h"
#include "controller/disruption/slots.h"
#include "controller/fleet/gpu_users.h"
#include "controller/fleet/node_facts.h"

namespace berth {
namespace {

// Uses the layouts' own statuses, so that alerts and kubectl show the same.
void tell_layouts(const ClusterState& cluster, Figures& out) {
  Figure nodes{"berth_miglayout_nodes", "Nodes that the MIGLayout selects and owns, by state."};
  Figure conditions{"berth_miglayout_condition",
                    "1 for the status that a condition of the MIGLayout has, else 0."};
  Figure reasons{"berth_miglayout_condition_reason",
                 "1; the reason of a condition of the MIGLayout."};
  for (const auto& layout : cluster.mig_layouts()) {
    const MIGLayoutStatus& status = layout->status;
    const Figure::Labels label{{"layout", layout->meta.name}};
    const std::pair<const char*, std::int32_t> counts[] = {
        {"updated", status.nodes.updated},
        {"in_progress", status.nodes.in_progress},
        {"pending", status.nodes.pending},
        {"blocked", status.nodes.blocked},
        {"failed", status.nodes.failed}};
    for (const auto& [state, count] : counts) nodes.add({label[0], {"state", state}}, count);
    add_conditions(label, status.conditions, status.observed_generation >= layout->meta.generation,
                   conditions);
    add_reasons(label, status.conditions, reasons);
  }
  for (Figure* figure : {&nodes, &conditions, &reasons}) out.push_back(std::move(*figure));
}

struct Outage {
  std::string layout;
  Time since{};
};

// Returns since when berth keeps the node cordoned, from the node's record, or from the ledger if
// the record is lost.
std::optional<Outage> outage_of(const ClusterState& cluster, const Node& node,
                                const SlotLedger& ledger) {
  if (!node.cordoned()) return std::nullopt;
  const RolloutRecord record = read_rollout(cluster, node);
  const bool held_by_berth = !record.idle() || record.kept_out();
  if (held_by_berth && record.rollout->berth_cordoned)
    return Outage{record.rollout->layout, record.rollout->taken.value_or(record.rollout->since)};
  const Slot* slot = ledger.find(node.meta.name);
  if (held_by_berth || slot == nullptr || slot->node_uid != node.meta.uid || !slot->layout() ||
      !slot->berth_cordoned.value_or(false) || !is_record_lost(*slot, record))
    return std::nullopt;
  return Outage{std::string(*slot->layout()), slot->since};
}

void tell_nodes(const ClusterState& cluster, const Settings& settings, Figures& out) {
  Figure since{"berth_node_unavailable_since_timestamp_seconds",
               "When berth cordoned a node that is cordoned by it now, Unix time."};
  struct Count {
    std::int64_t in_service = 0, unavailable = 0;
  };
  std::map<std::string, Count, std::less<>> capacity;
  const SlotLedger& ledger = read_ledger(cluster, settings);
  for (const auto& node : cluster.nodes()) {
    if (const auto outage = outage_of(cluster, *node, ledger))
      since.add({{"node", node->meta.name}, {"layout", outage->layout}},
                unix_seconds(outage->since));
    for (const auto& [resource, count] : gpu_capacity(*node)) {
      auto entry = capacity.find(resource);
      if (entry == capacity.end()) entry = capacity.emplace(resource, Count()).first;
      (in_service(*node) ? entry->second.in_service : entry->second.unavailable) += count;
    }
  }
  Figure allocatable{"berth_gpu_allocatable",
                     "Allocatable of NVIDIA's resources over all nodes, by whether the node takes "
                     "new pods."};
  for (const auto& [resource, count] : capacity) {
    allocatable.add({{"resource", resource}, {"state", "in_service"}},
                    static_cast<double>(count.in_service));
    allocatable.add({{"resource", resource}, {"state", "unavailable"}},
                    static_cast<double>(count.unavailable));
  }
  Figure requested{"berth_gpu_requested",
                   "What unfinished pods that are bound to a node request of NVIDIA's resources."};
  for (const auto& [resource, _] : capacity) {
    std::int64_t sum = 0;
    for (const Pod* pod : cluster.view<GpuUsers>().of(resource))
      if (const Quantity* count = pod->shape->requests.find(resource)) sum += count->rounded_up();
    requested.add({{"resource", resource}}, static_cast<double>(sum));
  }
  for (Figure* figure : {&since, &allocatable, &requested}) out.push_back(std::move(*figure));
}

}  // namespace

Figures rollout_figures(const ClusterState& cluster, const Settings& settings) {
  Figures out;
  tell_layouts(cluster, out);
  tell_nodes(cluster, settings, out);
  return out;
}

}  // namespace berth
