// SPDX-License-Identifier: Apache-2.0
// Conditions after kstatus: Ready always; Reconciling and Stalled only while True.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apis/meta.h"

namespace berth {

// What a reason means for the object that reports it, once nothing moves any more. Each kind has a
// table of its reasons, and docs/reasons.md shows it.
enum class Outlook {
  kReady,
  kReconciling,  // a budget, a window, a drain, a hold or running work can end it
  kStalled,      // nothing will until a person changes something: a spec, the chart's values,
                 // somebody else's policy, the agents' settings
  kSuspended,    // asked for by the spec: neither condition
};

// nullptr unless the condition is there and True.
const Condition* find_true(const std::vector<Condition>& conditions, std::string_view type);

// Desired conditions over those that stand: lastTransitionTime moves only when status does.
std::vector<Condition> merge_conditions(const std::vector<Condition>& standing,
                                        std::vector<Condition> desired, Time now);

// Whether two sets of conditions say the same by type, status and generation, and Stalled by its
// reason. Other reasons follow the step of some node, and messages tell progress: neither is a
// cause to write at once.
bool same_verdicts(const std::vector<Condition>& a, const std::vector<Condition>& b);

// As cut() (apis/cut.h), but before the last clause ("; …"), where a message says what to do.
std::string cut_before_advice(const std::string& text, std::size_t limit);

}  // namespace berth
