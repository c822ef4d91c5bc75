// SPDX-License-Identifier: Apache-2.0
// What becomes of the marks of gangs that are taken back: how long each is needed, and when a gang
// that was left out is in its queue again.
#pragma once

#include "controller/queue/ledger_review.h"

namespace berth::queue {

void review_recalls(const Snapshot& snapshot, const AdmissionLedger& ledger,
                    const ClusterIndex& index, LedgerReview& review);

}  // namespace berth::queue
