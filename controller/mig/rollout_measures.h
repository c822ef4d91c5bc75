// SPDX-License-Identifier: Apache-2.0
// RolloutMeasures: what a node's rollout adds to /metrics when its record changes: how long a phase
// took, and how a rollout has ended.
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
  kRolledBack,     // verified with the config it had before
  kPutBack,        // given up before its GPUs were touched
  kFailed,         // given up, and out until a person has looked
};
const char* to_string(RolloutEnd end);  // "repartitioned"; a label's value
// How the rollout of a node has ended with this change of its record; nothing if it has not.
std::optional<RolloutEnd> rollout_end(const RolloutRecord& before, const NodeRollout& after);

// What is to be observed once the node's record has been replaced.
std::vector<Observation> observe_rollout(const ObjectRef& node, const RolloutRecord& before,
                                         const NodeRollout& after);

}  // namespace berth
