// SPDX-License-Identifier: Apache-2.0
// NewerRecords: admissions that a later version of berth has recorded, as after a rollback. This
// one can't know what they mean: it does nothing by them, and says so.
#pragma once

#include <optional>
#include <string>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"
#include "controller/queue/facts_index.h"

namespace berth::queue {

// Why nobody is admitted: the ledger has entries that this berth can't read.
std::optional<Cause> find_newer_ledger(const Snapshot& snapshot);

// The workloads of the queue that are left alone.
std::optional<Cause> find_left_alone(const FactsIndex& index, const std::string& queue);

}  // namespace berth::queue
