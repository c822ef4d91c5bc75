// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/refusals.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/disruption/capacity_guard.h"
#include "controller/disruption/slots.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/rollout_choice.h"

namespace berth {
namespace {

// Every resource that only this node still offers to its users, and what `retire` already contains.
// The guard's refusal names one at a time, but the user should write the line once.
std::string retire_line(const Snapshot& snapshot, const MIGLayout& layout, const Node& node) {
  const CapacityGuardSpec& spec = layout.spec.capacity_guard;
  const CapacityGuard guard(snapshot, read_ledger(snapshot), spec);
  std::vector<std::string> retire = spec.retire;
  for (std::string& resource : guard.last_provided(node))
    if (std::ranges::find(retire, resource) == retire.end()) retire.push_back(std::move(resource));
  return fmt::format("capacityGuard: {{retire: [{}]}}", fmt::join(retire, ", "));
}

std::string minimum_line(const Snapshot& snapshot, const MIGLayout& layout, const Node& node) {
  const CapacityGuard guard(snapshot, read_ledger(snapshot), layout.spec.capacity_guard);
  std::string lowered;
  for (const auto& [resource, minimum] : layout.spec.capacity_guard.min_available) {
    const Capacity offered = gpu_capacity(node);
    auto lost = offered.find(resource);
    auto left = guard.remaining().find(resource);
    if (lost == offered.end() || left == guard.remaining().end()) continue;
    if (left->second - lost->second < minimum)
      lowered += fmt::format("{}{}: {}", lowered.empty() ? "" : ", ", resource,
                             left->second - lost->second);
  }
  return lowered.empty() ? "" : fmt::format("capacityGuard: {{minAvailable: {{{}}}}}", lowered);
}

bool is_spec_fault(std::string_view reason) {
  return reason == reasons::kInvalidLayout || reason == reasons::kInvalidSpec;
}

}  // namespace

std::string line_for(const Snapshot& snapshot, const MIGLayout& layout,
                     const NodeStanding& standing) {
  const std::string& reason = standing.cause.reason;
  if (reason == reasons::kLastProvider) return retire_line(snapshot, layout, *standing.node);
  if (reason == reasons::kCapacityGuard) return minimum_line(snapshot, layout, *standing.node);
  if (reason == reasons::kUnmanagedPod) return "drain: {force: true}";
  if (reason == reasons::kLocalStorage) return "drain: {deleteEmptyDirData: true}";
  if (reason == reasons::kJobRunning)
    return "drain: {waitForCompletion: {podSelector: {matchExpressions: "
           "[{key: batch.kubernetes.io/job-name, operator: Exists}]}}}";
  if (reason == reasons::kPaused) return "rollout: {paused: false}";
  return {};
}

std::vector<Refusal> refusals(const Snapshot& snapshot, const std::vector<LayoutSummary>& layouts) {
  std::vector<Refusal> out;
  for (const LayoutSummary& summary : layouts) {
    const MIGLayout* layout = snapshot.cluster.mig_layouts().find(summary.name);
    if (layout == nullptr) continue;
    const std::size_t first = out.size();
    for (const NodeStanding& node : decide_rollout(snapshot, *layout).nodes) {
      if (node.bucket == NodeBucket::kUpdated || node.cause.reason.empty()) continue;
      auto same = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                               [&](const Refusal& r) { return r.cause == node.cause; });
      if (same == out.end())
        same = out.insert(out.end(), {.layout = summary.name,
                                      .cause = node.cause,
                                      .line = line_for(snapshot, *layout, node),
                                      .spec = is_spec_fault(node.cause.reason)});
      same->nodes.push_back(node.node->meta.name);
    }
    // Reasons that stall the whole layout and not one node.
    for (const Condition& condition : summary.conditions) {
      const bool told = std::any_of(
          out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
          [&](const Refusal& r) { return r.cause.reason == condition.reason || r.spec; });
      if (condition.type == "Stalled" && condition.status == "True" && !told)
        out.push_back({.layout = summary.name,
                       .cause = {condition.reason, condition.message},
                       .spec = is_spec_fault(condition.reason)});
    }
  }
  return out;
}

}  // namespace berth
