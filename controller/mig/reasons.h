// SPDX-License-Identifier: Apache-2.0
// Reasons: the words that stand in status.details[].reason, in conditions and in events. They are
// API: users script against them. WriteRefused is everybody's: controller/core/refused_write.h.
#pragma once

#include <span>
#include <string_view>

#include "controller/core/conditions.h"

namespace berth {
namespace reasons {

// Why a node waits; the layout's owner can do something about it (status.nodes.blocked).
inline constexpr char kAgentNotConfigured[] = "AgentNotConfigured";
inline constexpr char kCapacityGuard[] = "CapacityGuard";
inline constexpr char kContested[] = "Contested";
inline constexpr char kDoNotDisrupt[] = "DoNotDisrupt";
inline constexpr char kDraNode[] = "DraNode";
inline constexpr char kEvictionForbidden[] = "EvictionForbidden";
inline constexpr char kHeld[] = "Held";
inline constexpr char kInvalidLayout[] = "InvalidLayout";
inline constexpr char kInventoryUnknown[] = "InventoryUnknown";
inline constexpr char kJobRunning[] = "JobRunning";
inline constexpr char kLastProvider[] = "LastProvider";
inline constexpr char kLocalStorage[] = "LocalStorage";
inline constexpr char kMigManagerMissing[] = "MigManagerMissing";
inline constexpr char kMigNotCapable[] = "MigNotCapable";
inline constexpr char kOwnPod[] = "OwnPod";
inline constexpr char kPodDisruptionBudget[] = "PodDisruptionBudget";
inline constexpr char kPodStays[] = "PodStays";
inline constexpr char kRolloutForgotten[] = "RolloutForgotten";
inline constexpr char kToleratesCordon[] = "ToleratesCordon";
inline constexpr char kUnknownProduct[] = "UnknownProduct";
inline constexpr char kUnmanagedPod[] = "UnmanagedPod";
inline constexpr char kVirtualMachineNode[] = "VirtualMachineNode";
// Why a node waits; time or its turn will tell (status.nodes.pending).
inline constexpr char kAllocatableMismatch[] = "AllocatableMismatch";
inline constexpr char kAskingPods[] = "AskingPods";
inline constexpr char kAutoscalerDeleting[] = "AutoscalerDeleting";
inline constexpr char kBackingOff[] = "BackingOff";
inline constexpr char kClaiming[] = "Claiming";
inline constexpr char kDisruptionWindow[] = "DisruptionWindow";
inline constexpr char kInitialBatch[] = "InitialBatch";
inline constexpr char kLayoutHalted[] = "LayoutHalted";
inline constexpr char kMaxUnavailable[] = "MaxUnavailable";
inline constexpr char kNodeNotReady[] = "NodeNotReady";
inline constexpr char kPaused[] = "Paused";
inline constexpr char kPoolMaxUnavailable[] = "PoolMaxUnavailable";
inline constexpr char kUpgradeInProgress[] = "UpgradeInProgress";
// What a node on its way waits for.
inline constexpr char kAgentPending[] = "AgentPending";
inline constexpr char kAgentFailed[] = "AgentFailed";
inline constexpr char kAgentRebooting[] = "AgentRebooting";
inline constexpr char kConfigNotRendered[] = "ConfigNotRendered";
inline constexpr char kAgentConfigTooLarge[] = "AgentConfigTooLarge";
inline constexpr char kLateBinding[] = "LateBinding";
inline constexpr char kPodsLeaving[] = "PodsLeaving";
inline constexpr char kSettling[] = "Settling";
inline constexpr char kVerifying[] = "Verifying";
// Of conditions.
inline constexpr char kAllNodesUpdated[] = "AllNodesUpdated";
inline constexpr char kInvalidSpec[] = "InvalidSpec";
inline constexpr char kNoNodesSelected[] = "NoNodesSelected";
inline constexpr char kNodeFailed[] = "NodeFailed";
inline constexpr char kRollingOut[] = "RollingOut";
inline constexpr char kDeleting[] = "Deleting";
// Of events about a layout: NodeFailed, Deleting and AgentConfigTooLarge besides.
inline constexpr char kRolloutStarted[] = "RolloutStarted";
inline constexpr char kRolloutBlocked[] = "RolloutBlocked";
inline constexpr char kRolloutFinished[] = "RolloutFinished";
inline constexpr char kNodeUpdated[] = "NodeUpdated";
inline constexpr char kDeleted[] = "Deleted";
// Of events about a node: AgentFailed, LateBinding and RolloutForgotten besides.
inline constexpr char kCordoned[] = "Cordoned";
inline constexpr char kReleased[] = "Released";
inline constexpr char kRepartitioned[] = "Repartitioned";
inline constexpr char kRepartitioning[] = "Repartitioning";
inline constexpr char kRestored[] = "Restored";
inline constexpr char kRetrying[] = "Retrying";
inline constexpr char kReturned[] = "Returned";
inline constexpr char kRolledBack[] = "RolledBack";
inline constexpr char kRollingBack[] = "RollingBack";
inline constexpr char kRolloutFailed[] = "RolloutFailed";
inline constexpr char kUncordonedByHand[] = "UncordonedByHand";

}  // namespace reasons

// Where a node with this reason is counted, while it waits: status.nodes.blocked is what the
// layout's owner can do something about.
enum class Column { kBlocked, kPending, kUnderWay, kNone };

struct LayoutReason {
  std::string_view reason;
  Column column = Column::kNone;  // kNone: of the layout as a whole
  Outlook outlook = Outlook::kReconciling;
};
// Every reason of a node's standing and of a layout's conditions.
std::span<const LayoutReason> layout_reasons();
// Time, or the node's turn, will tell; every other reason is the layout owner's to solve.
bool only_pending(std::string_view reason);
Outlook outlook_of(std::string_view reason);

struct EventReason {
  std::string_view kind;  // of the object that it is about
  std::string_view reason;
};
// Every event that rollouts give rise to, but for WriteRefused, which any object may get.
std::span<const EventReason> rollout_event_reasons();

}  // namespace berth
