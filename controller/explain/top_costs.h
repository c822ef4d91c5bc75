// SPDX-License-Identifier: Apache-2.0
// TopCosts: costs by pool, namespace, queue or owner since a time, from ConfigMap berth-costs. The
// data ends at its checkpoint, at most a minute ago while berth leads.
#pragma once

#include "controller/explain/since.h"
#include "controller/explain/top.h"

namespace berth {

enum class CostBy { kPool, kNamespace, kQueue, kOwner };

// One row for each, highest costs first, and one row for the sum in each currency. The columns add
// up to TOTAL. WASTE is the part of it without any use.
TopTable top_costs(const Snapshot& snapshot, CostBy by, Time since);

}  // namespace berth
