// SPDX-License-Identifier: Apache-2.0
// Reservation: what is kept for the head of a queue that has waited for long, from where it fits
// soonest (rule 11), and until when others may have it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/queue/preemption.h"

namespace berth::queue {

struct Reservation {
  const Workload* head = nullptr;
  std::string cohort;  // as cohort_name() has it
  QueueId queue = Catalog::kNoQueue;
  Wanted wanted;
  std::vector<std::pair<std::uint32_t, std::int64_t>> asks;  // of the queue's quotas, by place
  std::vector<Stand> stands;
  std::optional<std::int64_t> from;  // microseconds since the epoch; nothing: nobody knows
};

// Where the workload would fit soonest, if those that run end when they have to, and the others
// after them, the emptiest nodes first. Nothing if it would fit in no case. What runs and leaves is
// as `preemption` has it.
std::optional<Reservation> find_reservation(const FactsIndex& index, Preemption& preemption,
                                            const Preemptor& head, std::int64_t now);

}  // namespace berth::queue
