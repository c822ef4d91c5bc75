// SPDX-License-Identifier: Apache-2.0
// LedgerEpoch: the epoch of the leader that owns a ledger: annotation gpu.berth.dev/epoch. Each new
// leader raises it before its first plan. Thus the API server refuses late writes of the previous
// leader, because they carry an older resourceVersion.
#pragma once

#include <cstdint>

#include "apis/kinds/core.h"

namespace berth {

// berth itself never reaches this number. A ledger with a larger one was edited, so berth ignores
// it.
inline constexpr std::int64_t kMaxCounter = std::int64_t{1} << 53;

// Velero's label. Ledgers carry it, because a restored ledger would name objects that no longer
// exist.
inline constexpr char kNoBackupLabel[] = "velero.io/exclude-from-backup";

// 0 if the annotation is absent or unreadable: a user may have edited it. The next leader then
// counts from the epochs that are readable.
std::int64_t epoch_of(const ConfigMap& ledger);

}  // namespace berth
