// SPDX-License-Identifier: Apache-2.0
// The reconcilers that admit workloads. One decides and records its decisions. The other releases
// what is recorded. So no decision waits for a release, and no release is sent before its decision
// is in the ledger.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth::queue {

// Decides which workloads are admitted next, in one write of the ledger.
inline constexpr std::string_view kAdmissionsKey = "admissions";
Plan reconcile_admissions(const Snapshot& snapshot);

// Releases the objects of an admitted workload. `name` is the workload's name: "Job/ns/train".
inline constexpr std::string_view kReleaseKeys = "release/";
Plan reconcile_release(const Snapshot& snapshot, std::string_view name);

}  // namespace berth::queue
