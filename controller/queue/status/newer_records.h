// SPDX-License-Identifier: Apache-2.0
// NewerRecords: admissions that a later version of berth has recorded, for example before a
// rollback. This version can't know what they mean. It does not act on them, and reports them.
#pragma once

#include <optional>
#include <string>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

// Returns why no workload is admitted: the ledger has entries that this berth can't read.
std::optional<Cause> find_newer_ledger(const Snapshot& snapshot);

// Returns the workloads of the queue that berth leaves alone.
std::optional<Cause> find_left_alone(const FactsIndex& index, const std::string& queue);

}  // namespace berth::queue
