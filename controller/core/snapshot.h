// SPDX-License-Identifier: Apache-2.0
// Snapshot: everything that a reconciler may read. A const view, valid until the reconciler
// returns; never keep it across a co_await.
#pragma once

#include <cstdint>

#include "controller/core/answers.h"
#include "controller/core/attention.h"
#include "controller/core/cluster_state.h"
#include "controller/core/samples.h"
#include "controller/core/settings.h"
#include "controller/core/time_zones.h"

namespace berth {

struct Snapshot {
  const ClusterState& cluster;
  const Answers& answers;
  const Settings& settings;
  Time now{};
  std::int64_t epoch = 0;  // this leader's epoch (annotation on the slot ledger); 0 offline
  bool offline = false;    // `berth plan`: no live questions; budgets come from their status
  const TimeZones& zones = utc_only();
  const Samples& samples = kNoSamples;
  Attention attention;
};

}  // namespace berth
