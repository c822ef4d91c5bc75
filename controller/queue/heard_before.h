// SPDX-License-Identifier: Apache-2.0
// HeardBefore: how much of the cluster those have heard who wrote the ledger of admissions.
// Annotation gpu.berth.dev/heard: {"epoch": the leader's, "jobs": VERSION, "pods": VERSION}.
//
// What the ledger no longer says, the workloads' own objects say, and what it says is of objects
// that its writer knew. The caches of who leads next may lag behind both: there a workload that
// runs is not known, and its room is free. So it decides nothing and forgets nothing before it has
// heard as much. That costs no request, and no time where the watches are alive: these versions are
// of changes, which every watch brings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "controller/core/snapshot.h"

namespace berth::queue {

struct HeardBefore {
  std::int64_t epoch = 0;
  std::string jobs;  // resourceVersion of the latest change of one; empty: of none
  std::string pods;
  bool operator==(const HeardBefore&) const = default;
};

// Empty if it is of nothing.
std::string encode_heard(const HeardBefore& heard);
// What can't be read is not there. Nor is a version above the ledger's own: who wrote that had not
// heard of it, it comes from a person, or with a backup from another cluster, and would be waited
// for in vain.
HeardBefore decode_heard(std::string_view text, std::string_view ledger_version);

// Whether another leader has heard more than this process.
bool is_behind(const Snapshot& snapshot, const HeardBefore& before);
// Of one that is not behind.
HeardBefore heard_by_now(const Snapshot& snapshot, const HeardBefore& before);

}  // namespace berth::queue
