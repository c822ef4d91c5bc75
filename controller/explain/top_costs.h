// SPDX-License-Identifier: Apache-2.0
// Who has cost how much since a moment, from ConfigMap berth-costs: up to its checkpoint, which is
// a minute old at most while berth leads.
#pragma once

#include "controller/explain/since.h"
#include "controller/explain/top.h"

namespace berth {

enum class CostBy { kPool, kNamespace, kQueue, kOwner };

// A row for each, dearest first, and one for their sum in each currency. The columns add up to
// TOTAL; WASTE is what of it nobody had anything of.
TopTable top_costs(const Snapshot& snapshot, CostBy by, Time since);

}  // namespace berth
