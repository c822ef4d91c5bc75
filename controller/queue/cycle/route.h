// SPDX-License-Identifier: Apache-2.0
// Route: one pool in which the workloads of a class could run, and what they would be charged in
// each of the queue's quotas there (rules 2 and 4).
#pragma once

#include <utility>
#include <vector>

#include "controller/queue/cycle/quota_table.h"
#include "controller/queue/cycle/verdict.h"

namespace berth::queue {

struct Route {
  PoolId pool = Catalog::kAny;
  std::vector<std::pair<std::uint32_t, std::int64_t>> asks;  // index in the queue's quotas, amount
  bool may_borrow = true;  // otherwise it stays within the nominal quotas
};

struct Routes {
  std::vector<Route> open;  // in the order of the queue's quotas
  Verdict refusal;          // if none is open: kNoQuota, kExceedsMaximum or kMayNotBorrow
};

// Finds the pools whose quotas cover all requests of the class and could ever hold it. Fills
// `routes`, and reuses its memory.
void find_routes(const QueueQuotas& queue, ClassId workloads, const Catalog& catalog,
                 const NodeRoom& room, Routes& routes);

}  // namespace berth::queue
