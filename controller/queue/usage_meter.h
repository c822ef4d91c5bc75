// SPDX-License-Identifier: Apache-2.0
// UsageMeter: what a leader has counted since what is written down. It keeps that in mind, as a
// write a minute is too coarse for work that takes a minute. Whoever begins without it, as after a
// crash, goes on from what stands, and loses of what has ended meanwhile what it used after that.
#pragma once

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/gpu_hours.h"
#include "controller/queue/usage_ledger.h"

namespace berth {

class UsageMeter {
 public:
  // Counts up to now, and writes down what is new once a minute.
  Plan reconcile(const Snapshot& snapshot);

 private:
  void begin_anew_if_edited(const ConfigMap* standing, const queue::GpuHours& written);
  std::optional<Duration> until_next(const Snapshot& snapshot,
                                     const queue::GpuHours& written) const;

  queue::GpuHours hours_;
  queue::HeldGpus held_;       // at hours_.at
  bool looked_ = false;        // both are known
  queue::UsageTexts read_;     // what hours_ go back to
  queue::UsageTexts written_;  // and what was to stand after the last write
};

}  // namespace berth
