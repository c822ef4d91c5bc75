// SPDX-License-Identifier: Apache-2.0
// Showback: how many GPU hours queues, namespaces or pools have used since a moment, from ConfigMap
// berth-usage and what has run since its checkpoint.
#pragma once

#include <string_view>

#include "controller/explain/since.h"
#include "controller/explain/top.h"

namespace berth {

enum class UsageBy { kQueue, kNamespace, kPool };
// A row for each, most first. Days count whole, and where they are not kept any more, months: the
// rows say since when that is.
TopTable top_usage(const Snapshot& snapshot, UsageBy by, Time since);

}  // namespace berth
