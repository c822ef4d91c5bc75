// SPDX-License-Identifier: Apache-2.0
// reconcile: the whole pure core behind one workqueue key. The shell calls it on the loop thread,
// and `berth plan` calls it on a what-if snapshot.
#pragma once

#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// Whether a newer leader has written its epoch. The Lease alone can't stop an old leader's writes;
// the epoch does, as soon as the cache has it. Always false offline.
bool is_deposed(const Snapshot& snapshot);

// Reconciles a key of key_families.h. The plan of a deposed leader is empty, so that it writes
// nothing.
Plan reconcile(const Snapshot& snapshot, std::string_view key);

}  // namespace berth
