// SPDX-License-Identifier: Apache-2.0
// LeavingOutlook: what is known about making a pod leave. With kRequeue all pods of its Job leave,
// on any node. berth asks about each of them, and each budget must allow all of them together.
#pragma once

#include <vector>

#include "controller/disruption/drain.h"

namespace berth {

struct LeavingOutlook {
  EvictionOutlook::Kind kind = EvictionOutlook::Kind::kUnknown;
  Cause cause = {};               // for kNo
  std::vector<Ask> asks = {};     // to ask, or to ask again
  std::vector<Guard> looks = {};  // reads of controllers that are due
};
// For a verdict whose leaves() is true.
LeavingOutlook leaving_outlook(const Snapshot& snapshot, const PodVerdict& verdict);

}  // namespace berth
