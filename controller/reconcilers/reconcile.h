// SPDX-License-Identifier: Apache-2.0
// reconcile: the whole pure core behind one workqueue key. The shell calls it on the loop thread,
// and `berth plan` calls it on a what-if snapshot.
#pragma once

#include <functional>
#include <map>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// Whether a newer leader has written its epoch. The Lease alone can't stop an old leader's writes;
// the epoch does, as soon as the cache has it. Always false offline.
bool is_deposed(const Snapshot& snapshot);

// The reconcilers with state that a process has started, by the prefixes of their families.
using StartedFamilies = std::map<std::string_view, std::function<Plan(const Snapshot&)>>;

// By key (key_families.h). Empty while the slot ledger shows a newer leader's epoch than the
// snapshot's: a deposed leader plans nothing.
Plan reconcile(const Snapshot& snapshot, std::string_view key, StartedFamilies& started);
// As a process that has just begun.
Plan reconcile(const Snapshot& snapshot, std::string_view key);

}  // namespace berth
