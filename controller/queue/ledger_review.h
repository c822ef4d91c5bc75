// SPDX-License-Identifier: Apache-2.0
// LedgerReview: what of the ledger of admissions is in flight, what is done, and what is withdrawn
// because the API server refuses to let it go; and what becomes of the marks beside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "controller/core/snapshot.h"
#include "controller/queue/admission_ledger.h"
#include "controller/queue/cluster_index.h"

namespace berth::queue {

struct LedgerReview {
  LedgerChanges changes;
  std::size_t open = 0;       // how many are in flight
  std::size_t waiting = 0;    // and how many wait for others to be gone
  std::size_t bytes = 0;      // of what stays
  std::int64_t last = 0;      // when the youngest that is done was decided
  bool at_once = false;       // quota is given back: the changes wait for no admission
  std::optional<Time> again;  // when it has to be looked at again although nothing happens
};
LedgerReview review_ledger(const Snapshot& snapshot, const AdmissionLedger& ledger,
                           const ClusterIndex& index);

}  // namespace berth::queue
