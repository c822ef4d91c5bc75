// SPDX-License-Identifier: Apache-2.0
// Showback: how many GPU hours queues or namespaces have used since a moment, from ConfigMap
// berth-usage and what has run since its checkpoint.
#pragma once

#include <string_view>

#include "controller/explain/top.h"

namespace berth {

// "7d", "24h", "90m", "2026-11-01", "2026-11-01T08:00:00Z": not after `now`.
Result<Time> parse_since(std::string_view text, Time now);

enum class UsageBy { kQueue, kNamespace };
// A row for each, most first. Days count whole, and where they are not kept any more, months: the
// rows say since when that is.
TopTable top_usage(const Snapshot& snapshot, UsageBy by, Time since);

}  // namespace berth
