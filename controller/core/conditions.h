// SPDX-License-Identifier: Apache-2.0
// Conditions in the style of kstatus: Ready always exists; Reconciling and Stalled only while True.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/meta.h"

namespace berth {

// What a reason means for the object that reports it, once no step is in progress. Each kind has a
// table of its reasons; docs/reasons.md shows it.
enum class Outlook {
  kReady,
  kReconciling,  // a budget, a window, a drain, a hold or a running workload can end it
  // Lasts until a user changes something: a spec, the chart's values, another policy, or the
  // settings of NVIDIA's node components.
  kStalled,
  kSuspended,  // the spec asks for it: neither condition
};

// nullptr unless the condition exists and is True.
const Condition* find_true(const std::vector<Condition>& conditions, std::string_view type);

// Merges the desired conditions into the existing ones: lastTransitionTime changes only with
// status.
std::vector<Condition> merge_conditions(const std::vector<Condition>& standing,
                                        std::vector<Condition> desired, Time now);

// Whether two sets of conditions agree in type, status and generation, and in the reason of
// Stalled. Other reasons follow the steps of single nodes, and messages show progress. A change of
// these alone is no cause to write the status at once.
bool same_verdicts(const std::vector<Condition>& a, const std::vector<Condition>& b);

// Like cut() (apis/base/cut.h), but keeps the last clause ("; …"), which says what to do.
std::string cut_before_advice(const std::string& text, std::size_t limit);

}  // namespace berth
