// SPDX-License-Identifier: Apache-2.0
// The epoch of the leader that a ledger belongs to: annotation gpu.berth.dev/epoch. Each new leader
// raises it before it plans by what stands there, so that the late write of a deposed one, which
// carries the resourceVersion of before, is refused.
#pragma once

#include <cstdint>

#include "apis/core.h"

namespace berth {

// From here on a sequence number or an epoch was not counted by berth, and could not be counted on.
inline constexpr std::int64_t kMaxCounter = std::int64_t{1} << 53;

// Velero's label. Ledgers carry it: a restored ledger would name objects that no longer exist.
inline constexpr char kNoBackupLabel[] = "velero.io/exclude-from-backup";

// 0 where nothing stands that can be read: a person may have edited it, and the next leader starts
// again from what can be.
std::int64_t epoch_of(const ConfigMap& ledger);

}  // namespace berth
