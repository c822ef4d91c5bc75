// SPDX-License-Identifier: Apache-2.0
// ControllerLease: whether a berth controller runs, according to the Lease that it renews.
#pragma once

#include <string>
#include <string_view>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"

namespace berth {

// "no berth controller has run since 2026-11-21T10:29:43Z"; empty if one runs, or if it is unknown.
std::string told_absence(const Snapshot& snapshot, const Clues& clues);

// The text to add to a promise: empty, or ", if a berth controller runs …".
std::string promise_condition(const Snapshot& snapshot, const Clues& clues);

// Returns from when the leader's patience counts: from when it took the Lease. If that is unknown,
// `since` is the epoch, and all time counts.
Attention leader_attention(const Clues& clues);

// A note that the leader's version differs from this command's; empty if they are equal or the
// Lease does not say.
std::string told_other_version(const Clues& clues, std::string_view own);

}  // namespace berth
