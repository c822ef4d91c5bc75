// SPDX-License-Identifier: Apache-2.0
// Reasons in a GPUClusterPolicy's conditions and in the events about its nodes. They are API: users
// script against them.
#pragma once

#include <span>
#include <string_view>

#include "controller/core/conditions.h"
#include "controller/mig/reasons.h"

namespace berth {
namespace reasons {

// Of Ready, Reconciling and Stalled.
inline constexpr char kPoolsInPlace[] = "PoolsInPlace";
inline constexpr char kLabelling[] = "Labelling";
inline constexpr char kPluginRollout[] = "PluginRollout";
inline constexpr char kRetreating[] = "Retreating";
inline constexpr char kPolicyInvalid[] = "PolicyInvalid";
inline constexpr char kAgentsMismatch[] = "AgentsMismatch";
inline constexpr char kOperandsNotTolerant[] = "OperandsNotTolerant";
inline constexpr char kPluginNotConfigured[] = "PluginNotConfigured";
inline constexpr char kPluginDefaultTaken[] = "PluginDefaultTaken";
inline constexpr char kMigStrategyOverridden[] = "MigStrategyOverridden";
inline constexpr char kKeyForbidden[] = "KeyForbidden";
inline constexpr char kKeysContested[] = "KeysContested";
inline constexpr char kPriorityClassTaken[] = "PriorityClassTaken";
// Of events: PoolsInPlace, Deleting and Deleted about the policy besides.
inline constexpr char kPoolKeysCorrected[] = "PoolKeysCorrected";
inline constexpr char kPolicyBlocked[] = "PolicyBlocked";
inline constexpr char kPoolsLabelled[] = "PoolsLabelled";

}  // namespace reasons

struct PolicyReason {
  std::string_view reason;
  Outlook outlook = Outlook::kReconciling;
  bool in_part = false;  // of one taint, node or class: the others go on meanwhile
};
// Every reason of the policy's conditions.
std::span<const PolicyReason> policy_reasons();
const PolicyReason* find_policy_reason(std::string_view reason);

// Every event that the policy gives rise to, but for WriteRefused, which any object may get.
std::span<const EventReason> policy_event_reasons();

}  // namespace berth
