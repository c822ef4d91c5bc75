// SPDX-License-Identifier: Apache-2.0
// Verification: the result of a label that berth wrote. mig-manager's report alone is not enough:
// allocatable must be as promised for some time.
#pragma once

#include <string>

#include "controller/core/cause.h"
#include "controller/mig/situation.h"

namespace berth {

struct Verification {
  enum class State {
    kAgentWorking,  // no state yet, pending or rebooting
    kAgentFailed,   // state `failed`
    kForeignLabel,  // mig.config names another config than berth wrote
    kMismatch,      // `success`, but allocatable is not what was promised
    kSteadying,     // as promised, but not for long enough yet
    kDone,
  };
  State state = State::kAgentWorking;
  Cause cause;  // for status.details
  Time due{};   // kSteadying: when verification ends
};
// For a node in phase Applying, RollingBack or Failed.
Verification verify(const Situation& situation);

// Returns the names of pods that were bound after the label write and must not be on a node whose
// GPUs are being repartitioned.
std::string late_pods(const Situation& situation);

}  // namespace berth
