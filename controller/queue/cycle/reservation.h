// SPDX-License-Identifier: Apache-2.0
// Reservation: the capacity that berth keeps free for the head of a queue that has waited long. It
// is where the head fits soonest (rule 11). It also says until when other workloads may use this
// capacity.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/queue/cycle/preemption.h"

namespace berth::queue {

struct Reservation {
  const Workload* head = nullptr;
  std::string cohort;  // a cohort_name()
  QueueId queue = Catalog::kNoQueue;
  Wanted wanted;
  // Index in the queue's quotas, and amount.
  std::vector<std::pair<std::uint32_t, std::int64_t>> asks;
  std::vector<Stand> stands;
  std::optional<std::int64_t> from;  // microseconds since the epoch; absent: unknown
};

// Finds where the workload would fit soonest. It assumes that running Jobs end at their deadline,
// and all other workloads after them, those on the emptiest nodes first. Returns nothing if the
// workload would never fit. `preemption` says which workloads run and which leave.
std::optional<Reservation> find_reservation(const FactsIndex& index, Preemption& preemption,
                                            const Preemptor& head, std::int64_t now);

}  // namespace berth::queue
