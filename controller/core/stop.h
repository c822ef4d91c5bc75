// SPDX-License-Identifier: Apache-2.0
// Stop: berth's emergency stop. While it is set, berth takes no node out of service, evicts no pod,
// and changes no pool and no sharing. It returns nodes that it only drains, and finishes nodes that
// mig-manager is repartitioning. Pure; each reconciler checks it before it starts something.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/figures.h"
#include "controller/core/snapshot.h"

namespace berth {

// GPUClusterPolicy, MIGLayout and GPUQueue have this condition while berth is stopped.
inline constexpr char kStoppedCondition[] = "Stopped";

// Who set it, why and since when, as far as the object says.
struct Stop {
  std::string reason;
  std::string by;
  std::optional<Time> since;
  bool operator==(const Stop&) const = default;
};

// Annotation gpu.berth.dev/stop: the JSON that `berth stop` writes. Any other text is the reason.
Stop decode_stop(std::string_view text);
std::string encode_stop(const Stop& stop);

// The stop from spec.operations of the GPUClusterPolicy `cluster`, even if that is invalid or being
// deleted, or from the annotation of berth's own namespace. The policy's annotation only describes
// the stop.
std::optional<Stop> stop_of(const ClusterState& cluster, const Settings& settings);

bool is_stopped(const Snapshot& snapshot);
// "berth is stopped since … by …: …", for workloads and nodes that wait for the end of the stop.
std::optional<Cause> why_stopped(const Snapshot& snapshot);

// Adds condition Stopped while the stop is set.
void add_stopped(const Snapshot& snapshot, std::int64_t generation,
                 std::vector<Condition>& conditions);

// berth_operations_stopped.
Figures stop_figures(const ClusterState& cluster, const Settings& settings);

// Whether this change of the object starts, ends or describes the stop differently.
bool changes_stop(const Settings& settings, const GPUClusterPolicy* old,
                  const GPUClusterPolicy* now);
bool changes_stop(const Settings& settings, const Namespace* old, const Namespace* now);

}  // namespace berth
