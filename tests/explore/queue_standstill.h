// SPDX-License-Identifier: Apache-2.0
// QueueStandstill: queues do not stand still while GPUs are free. Checked like the others
// (invariants.h) on the store's truth:
//   Standstill  while half of the GPUs in service are free, and a workload is pending that would
//               fit if the ledger held nothing for admissions that wait for others, berth releases
//               a workload within minutes
// A berth that has just read the whole store decides what would fit. Time counts only while a
// process of berth runs.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/time.h"
#include "controller/core/settings.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

class QueueStandstill {
 public:
  explicit QueueStandstill(const Settings& settings) : settings_(settings) {}

  // Call this after the change. `runs`: a process of berth runs that may lead.
  void take(const sim::Change& change, bool by_berth, bool runs, const sim::Store& store, Time wall,
            std::chrono::nanoseconds news_takes);
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  void look(const sim::Store& store, Time wall);

  const Settings settings_;
  std::optional<Time> since_;  // a workload would fit, and none was released
  std::string fits_;
  Time look_at_{};
  Duration between_looks_{};
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
