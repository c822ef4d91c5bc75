// SPDX-License-Identifier: Apache-2.0
// TopUsage: GPU hours that queues, namespaces or pools have used since a time, from ConfigMap
// berth-usage and from what has run since its checkpoint.
#pragma once

#include <string_view>

#include "controller/explain/since.h"
#include "controller/explain/top.h"

namespace berth {

enum class UsageBy { kQueue, kNamespace, kPool };
// One row for each, largest use first. Days count as a whole; where days are no longer kept, months
// do. The rows say which time they start at.
TopTable top_usage(const Snapshot& snapshot, UsageBy by, Time since);

}  // namespace berth
