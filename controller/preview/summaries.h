// SPDX-License-Identifier: Apache-2.0
// Summaries: parts of a Projection that come from a snapshot before or after the run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/preview/projection.h"
#include "controller/preview/what_if.h"

namespace berth {

// Every layout of `snapshot`, which contains `given`; `before` is the cluster without them.
std::vector<LayoutSummary> summarize_layouts(const ClusterState& before, const Snapshot& snapshot,
                                             const std::vector<MIGLayout>& given);
// Sets counts and conditions of the end.
void note_end(const Snapshot& snapshot, std::vector<LayoutSummary>& layouts);

// According to the budgets' status; no eviction was tried.
std::vector<BudgetInTheWay> budgets_in_the_way(const Snapshot& snapshot);

// The file of NVIDIA's node components. The slot ledger is internal and not reported.
std::vector<ObjectChange> changed_config_maps(const ClusterState& before, const ClusterState& after,
                                              const Settings& settings);

using ResourceCounts = std::map<std::string, std::int64_t>;
std::vector<CapacityRow> capacity_rows(const ResourceCounts& before, const ResourceCounts& lowest,
                                       const ResourceCounts& after, const ClusterState& cluster);

PodMove describe_move(const PodEvent& event);

}  // namespace berth
