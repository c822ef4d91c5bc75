// SPDX-License-Identifier: Apache-2.0
// UsageMeter: what this leader has counted since the last write. It keeps this in memory, as one
// write per minute is too coarse for workloads that run for a minute. After a restart, a new object
// continues from the recorded usage. If a workload ended in between, its usage after that record is
// lost.
#pragma once

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/budget/gpu_hours.h"
#include "controller/queue/budget/usage_ledger.h"

namespace berth::queue {

class UsageMeter {
 public:
  // Counts up to now, and records new usage once a minute.
  Plan reconcile(const Snapshot& snapshot);

 private:
  void begin_anew_if_edited(const ConfigMap* standing, const GpuHours& written);
  std::optional<Duration> until_next(const Snapshot& snapshot, const GpuHours& written) const;

  GpuHours hours_;
  HeldGpus held_;        // at hours_.at
  bool looked_ = false;  // hours_ and held_ are valid
  UsageTexts read_;      // the record that hours_ started from
  UsageTexts written_;   // what the last write should have recorded
};

}  // namespace berth::queue
