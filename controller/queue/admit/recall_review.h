// SPDX-License-Identifier: Apache-2.0
// Decides how long the marks of recalled gangs are needed, and when a gang that was left out is in
// its queue again.
#pragma once

#include "controller/queue/admit/ledger_review.h"

namespace berth::queue {

void review_recalls(const Snapshot& snapshot, const AdmissionLedger& ledger,
                    const ClusterIndex& index, LedgerReview& review);

}  // namespace berth::queue
