// SPDX-License-Identifier: Apache-2.0
// The reconcilers that admit: one decides, and writes that down; one lets go what was written down.
// So no decision waits for a release, and no release comes before its decision stands in the
// ledger.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// Who is admitted next: one write of the ledger.
inline constexpr std::string_view kAdmissionsKey = "admissions";
Plan reconcile_admissions(const Snapshot& snapshot);

// Lets the workload's objects go. `name` is the workload's: "Job/ns/train".
inline constexpr std::string_view kReleaseKeys = "release/";
Plan reconcile_release(const Snapshot& snapshot, std::string_view name);

}  // namespace berth
