// SPDX-License-Identifier: Apache-2.0
// LeavingOutlook: what is known about making a pod leave. Of kRequeue all pods of its Job go with
// it, wherever they are: each is asked for, and no budget may be left with less than it keeps when
// they go together.
#pragma once

#include <vector>

#include "controller/disruption/drain.h"

namespace berth {

struct LeavingOutlook {
  EvictionOutlook::Kind kind = EvictionOutlook::Kind::kUnknown;
  Cause cause = {};               // for kNo
  std::vector<Ask> asks = {};     // to be put, or to be put again
  std::vector<Guard> looks = {};  // reads of controllers that are due
};
// Of one that leaves().
LeavingOutlook leaving_outlook(const Snapshot& snapshot, const PodVerdict& verdict);

}  // namespace berth
