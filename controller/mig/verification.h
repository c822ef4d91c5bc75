// SPDX-License-Identifier: Apache-2.0
// Verification: what has become of a label that berth wrote. The agent's word alone ends nothing:
// allocatable must stand as promised, steadily.
#pragma once

#include <string>

#include "controller/core/cause.h"
#include "controller/mig/situation.h"

namespace berth {

struct Verification {
  enum class State {
    kAgentWorking,  // no word yet, pending or rebooting
    kAgentFailed,   // state `failed`
    kForeignLabel,  // mig.config names something else than berth wrote
    kMismatch,      // `success`, but allocatable is not what was promised
    kSteadying,     // all right, not yet for long enough
    kDone,
  };
  State state = State::kAgentWorking;
  Cause cause;  // for status.details
  Time due{};   // kSteadying: when it is done
};
// For a node in Applying, RollingBack or Failed.
Verification verify(const Situation& situation);

// Pods that must not be on a node whose GPUs are being cut, by name; bound after the label write.
std::string late_pods(const Situation& situation);

}  // namespace berth
