// SPDX-License-Identifier: Apache-2.0
// RolloutMeasures: what a node's rollout adds to the metrics when its record changes: how long a
// phase took, and how a rollout ended.
#pragma once

#include <optional>
#include <vector>

#include "controller/core/plan.h"
#include "controller/disruption/rollout_annotation.h"

namespace berth {

extern const Measure kRolloutPhaseSeconds;
extern const Measure kNodeRollouts;

enum class RolloutEnd {
  kRepartitioned,  // verified
  kRolledBack,     // verified with its previous config
  kPutBack,        // given up before its GPUs were changed
  kFailed,         // given up; the node stays out of service until a user looks at it
};
const char* to_string(RolloutEnd end);  // "repartitioned"; the value of the metric's label
// Returns how the node's rollout ended with this change of its record; nothing if it did not end.
std::optional<RolloutEnd> rollout_end(const RolloutRecord& before, const NodeRollout& after);

// Returns the observations to make once the node's record is replaced.
std::vector<Observation> observe_rollout(const ObjectRef& node, const RolloutRecord& before,
                                         const NodeRollout& after);

}  // namespace berth
