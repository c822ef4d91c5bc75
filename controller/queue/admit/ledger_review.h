// SPDX-License-Identifier: Apache-2.0
// LedgerReview: which entries of the admission ledger are in flight, done, or withdrawn because the
// API server refuses the release; and what to do with the marks in the ledger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "controller/core/snapshot.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/record/admission_ledger.h"

namespace berth::queue {

struct LedgerReview {
  LedgerChanges changes;
  std::size_t open = 0;     // entries in flight
  std::size_t waiting = 0;  // entries that wait for other workloads to go
  std::size_t bytes = 0;    // size of the entries that stay
  // When the youngest finished entry was decided, microseconds since the epoch.
  std::int64_t last = 0;
  bool at_once = false;       // quota is given back: write the changes without an admission
  std::optional<Time> again;  // when to review again if nothing changes
};
LedgerReview review_ledger(const Snapshot& snapshot, const AdmissionLedger& ledger,
                           const ClusterIndex& index);

}  // namespace berth::queue
