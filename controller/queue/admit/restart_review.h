// SPDX-License-Identifier: Apache-2.0
// Decides which gangs that lose pods get a mark that keeps their admission, and when it ends.
#pragma once

#include "controller/queue/admit/ledger_review.h"

namespace berth::queue {

void review_restarts(const Snapshot& snapshot, const AdmissionLedger& ledger,
                     const ClusterIndex& index, LedgerReview& review);

}  // namespace berth::queue
