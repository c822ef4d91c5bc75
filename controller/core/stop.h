// SPDX-License-Identifier: Apache-2.0
// Stop: berth's emergency stop. While it is set, berth takes no node and no pod away and changes no
// pool and no sharing: it gives nodes back that it only drains, and finishes those that mig-manager
// repartitions. Pure; each reconciler asks where it would begin something.
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

// GPUClusterPolicy, MIGLayout and GPUQueue have it while berth is stopped.
inline constexpr char kStoppedCondition[] = "Stopped";

// Who set it, why and since when, as far as that was written down.
struct Stop {
  std::string reason;
  std::string by;
  std::optional<Time> since;
  bool operator==(const Stop&) const = default;
};

// Annotation gpu.berth.dev/stop: the JSON that `berth stop` writes. Any other text is the reason.
Stop decode_stop(std::string_view text);
std::string encode_stop(const Stop& stop);

// By spec.operations of the GPUClusterPolicy `cluster`, also of one that breaks a rule or is being
// deleted; or by the annotation of berth's own namespace. The annotation of the policy only
// describes the stop.
std::optional<Stop> stop_of(const ClusterState& cluster, const Settings& settings);

bool is_stopped(const Snapshot& snapshot);
// "berth is stopped since … by …: …", for whatever waits for the end of the stop.
std::optional<Cause> why_stopped(const Snapshot& snapshot);

// Adds condition Stopped while it holds.
void add_stopped(const Snapshot& snapshot, std::int64_t generation,
                 std::vector<Condition>& conditions);

// berth_operations_stopped.
Figures stop_figures(const ClusterState& cluster, const Settings& settings);

// Whether the stop begins, ends or is described otherwise by this change of the object.
bool changes_stop(const Settings& settings, const GPUClusterPolicy* old,
                  const GPUClusterPolicy* now);
bool changes_stop(const Settings& settings, const Namespace* old, const Namespace* now);

}  // namespace berth
