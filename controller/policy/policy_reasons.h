// SPDX-License-Identifier: Apache-2.0
// Reasons in a GPUClusterPolicy's conditions and in the events about its nodes. They are API: users
// script against them.
#pragma once

namespace berth::reasons {

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
// Of events.
inline constexpr char kPoolKeysCorrected[] = "PoolKeysCorrected";

}  // namespace berth::reasons
