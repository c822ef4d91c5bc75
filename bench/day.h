// SPDX-License-Identifier: Apache-2.0
// Day: a simulated day of a cluster's queues, minute by minute, over the queue's index and its
// cycle alone. Inference comes in waves within what its queue is entitled to; training borrows what
// that leaves, and saves its work from time to time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth::queue {

struct DayRules {
  bool by_the_rules = true;   // of docs/queue-rules.md; else by priority alone (priority_only.h)
  bool rivals = false;        // two teams train, who take their own back from each other; else one
  bool within_queue = false;  // by the rules, queues displace their own lower priorities as well
  double load = 1.0;          // what is asked, of all GPUs
  unsigned seed = 0;
};

struct DayFigures {
  std::int64_t lost_gpu_minutes = 0;  // of work that was not saved
  std::int64_t done_gpu_minutes = 0;
  std::size_t displaced = 0;
  std::size_t unplaced = 0;        // whoever somebody was displaced for, and found no node
  std::size_t late_displaced = 0;  // after the last has come and ended, until it is quiet
  bool rests = false;              // it is
};

DayFigures play_day(const DayRules& rules);

}  // namespace berth::queue
