// SPDX-License-Identifier: Apache-2.0
// QueueStandstill: queues do not stand still beside free GPUs. Judged like the rest (invariants.h)
// on the store's truth:
//   Standstill  while half of the GPUs in service are free, and a workload waits that would fit if
//               the ledger held nothing for admissions that wait for others, berth releases
//               something within minutes
// Who would fit is decided by a berth that has just read the whole store. Time counts while a
// process of berth's runs.
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

  // After the change. `runs`: a process of berth's, that may lead.
  void take(const sim::Change& change, bool by_berth, bool runs, const sim::Store& store, Time wall,
            std::chrono::nanoseconds news_takes);
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  void look(const sim::Store& store, Time wall);

  const Settings settings_;
  std::optional<Time> since_;  // something would fit, and nothing was released
  std::string fits_;
  Time look_at_{};
  Duration between_looks_{};
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
