// SPDX-License-Identifier: Apache-2.0
// Reasons: the words in conditions, in status.details[].reason and in events. They are API: users
// script against them, and docs/reasons.md explains each.
#pragma once

namespace berth::reasons {

// Of any object: the API server refuses a write for good. On nodes, layouts and policies, and of
// the event on the object that was to be written.
inline constexpr char kWriteRefused[] = "WriteRefused";
// Condition Stopped has it on every object of berth's, and whatever waits until berth resumes.
inline constexpr char kOperationsStopped[] = "OperationsStopped";

// -- MIGLayout --
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
inline constexpr char kOwnerWouldFail[] = "OwnerWouldFail";
inline constexpr char kPodDisruptionBudget[] = "PodDisruptionBudget";
inline constexpr char kPodStays[] = "PodStays";
inline constexpr char kRolloutForgotten[] = "RolloutForgotten";
inline constexpr char kToleratesCordon[] = "ToleratesCordon";
inline constexpr char kUnknownProduct[] = "UnknownProduct";
inline constexpr char kUnmanagedPod[] = "UnmanagedPod";
inline constexpr char kVirtualMachineNode[] = "VirtualMachineNode";
// Why a node waits; time or its turn will tell (status.nodes.pending).
inline constexpr char kAdmissionInFlight[] = "AdmissionInFlight";
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

// -- GPUClusterPolicy --
// Of Ready, Reconciling and Stalled.
inline constexpr char kPoolsInPlace[] = "PoolsInPlace";
inline constexpr char kLabelling[] = "Labelling";
inline constexpr char kPluginRollout[] = "PluginRollout";
inline constexpr char kRetreating[] = "Retreating";
inline constexpr char kPolicyInvalid[] = "PolicyInvalid";
inline constexpr char kAgentsMismatch[] = "AgentsMismatch";
inline constexpr char kOperandsNotTolerant[] = "OperandsNotTolerant";
inline constexpr char kPluginNotConfigured[] = "PluginNotConfigured";
inline constexpr char kPluginKeysMissing[] = "PluginKeysMissing";
inline constexpr char kPluginDefaultTaken[] = "PluginDefaultTaken";
inline constexpr char kMigStrategyOverridden[] = "MigStrategyOverridden";
inline constexpr char kKeyForbidden[] = "KeyForbidden";
inline constexpr char kKeysContested[] = "KeysContested";
inline constexpr char kPriorityClassTaken[] = "PriorityClassTaken";
// Of events: PoolsInPlace, Deleting and Deleted about the policy besides.
inline constexpr char kPoolKeysCorrected[] = "PoolKeysCorrected";
inline constexpr char kPolicyBlocked[] = "PolicyBlocked";
inline constexpr char kPoolsLabelled[] = "PoolsLabelled";
// Of MetricsMissing.
inline constexpr char kMetricsUnreachable[] = "MetricsUnreachable";
inline constexpr char kMetricsUnreadable[] = "MetricsUnreadable";
inline constexpr char kMetricsRefused[] = "MetricsRefused";
inline constexpr char kExporterMissing[] = "ExporterMissing";
inline constexpr char kSeriesMissing[] = "SeriesMissing";
inline constexpr char kSeriesImplausible[] = "SeriesImplausible";
inline constexpr char kPodsNotNamed[] = "PodsNotNamed";
// Of MetricsIgnored.
inline constexpr char kForeignSeries[] = "ForeignSeries";
// Of NotConfirmed.
inline constexpr char kExporterDisagrees[] = "ExporterDisagrees";
inline constexpr char kExporterSilent[] = "ExporterSilent";
// The condition ClockSkewed and its reason.
inline constexpr char kClockSkewed[] = "ClockSkewed";
// Of HealthLimited.
inline constexpr char kTooManyUnhealthy[] = "TooManyUnhealthy";
// Of events about a node whose GPUs break.
inline constexpr char kGpusUnhealthy[] = "GPUsUnhealthy";
inline constexpr char kUnhealthyCordoned[] = "UnhealthyCordoned";
inline constexpr char kGpusRecovered[] = "GPUsRecovered";
inline constexpr char kProofFailed[] = "ProofFailed";

// -- Pods --
inline constexpr char kSlippedPastAdmission[] = "SlippedPastAdmission";  // of the event on the pod
inline constexpr char kGpusIdle[] = "GPUsIdle";                          // likewise
inline constexpr char kGpusReclaimed[] = "GPUsReclaimed";                // likewise, and on Jobs
inline constexpr char kGpusKept[] = "GPUsKept";                          // likewise

// -- What `berth why` answers, besides --
inline constexpr char kAwaitsScheduler[] = "AwaitsScheduler";
inline constexpr char kCudaTooOld[] = "CUDATooOld";
inline constexpr char kDeviceClaims[] = "DeviceClaims";
inline constexpr char kDevicePluginCrashes[] = "DevicePluginCrashes";
inline constexpr char kDevicePluginMissing[] = "DevicePluginMissing";
inline constexpr char kFailedCreate[] = "FailedCreate";
inline constexpr char kGpuMemoryTooSmall[] = "GPUMemoryTooSmall";
inline constexpr char kLayoutConflict[] = "LayoutConflict";
inline constexpr char kLayoutInProgress[] = "LayoutInProgress";
inline constexpr char kLegacyResource[] = "LegacyResource";
inline constexpr char kNoController[] = "NoController";
inline constexpr char kNoPodsYet[] = "NoPodsYet";
inline constexpr char kNodeGone[] = "NodeGone";
inline constexpr char kNodeTroubled[] = "NodeTroubled";
inline constexpr char kNodeUnhealthy[] = "NodeUnhealthy";
inline constexpr char kNotEligible[] = "NotEligible";
inline constexpr char kNotJudged[] = "NotJudged";
inline constexpr char kNotSelected[] = "NotSelected";
inline constexpr char kNotTolerated[] = "NotTolerated";
inline constexpr char kOfferEnds[] = "OfferEnds";
inline constexpr char kPastThePlugin[] = "PastThePlugin";
inline constexpr char kPoolConflict[] = "PoolConflict";
inline constexpr char kRejectedByKubelet[] = "RejectedByKubelet";
inline constexpr char kResourceNotOffered[] = "ResourceNotOffered";
inline constexpr char kScaledToZero[] = "ScaledToZero";
inline constexpr char kSchedulingGated[] = "SchedulingGated";
inline constexpr char kSuspended[] = "Suspended";
inline constexpr char kTooSmall[] = "TooSmall";
inline constexpr char kTopologyAffinityError[] = "TopologyAffinityError";
inline constexpr char kUnschedulable[] = "Unschedulable";
inline constexpr char kWillBeEvicted[] = "WillBeEvicted";
inline constexpr char kWillBeRequeued[] = "WillBeRequeued";

// -- GPUQueue --
// Of Ready and Stalled, beside kQueueHeld.
inline constexpr char kQueueActive[] = "QueueActive";
inline constexpr char kQueueInvalid[] = "QueueInvalid";
inline constexpr char kMixedQuotaUnits[] = "MixedQuotaUnits";
// Of Unfunded, NamespaceNotManaged, DefaultContested, NamespaceQuotaUnmet, BudgetExceeded,
// BudgetPeriodUnclear, PriorityClassNotAccepted, PinBlocked and AdmissionsPaused, beside
// kWriteRefused. WorkloadsLeftAlone has kRecordNewer.
inline constexpr char kNodesOfferLess[] = "NodesOfferLess";
inline constexpr char kPoolUnknown[] = "PoolUnknown";
inline constexpr char kNamespaceNotManaged[] = "NamespaceNotManaged";
inline constexpr char kDefaultContested[] = "DefaultContested";
inline constexpr char kQuotaNameTaken[] = "QuotaNameTaken";
inline constexpr char kTighterQuota[] = "TighterQuota";
inline constexpr char kNamespaceQuotaCorrected[] = "NamespaceQuotaCorrected";  // of an event
inline constexpr char kBudgetExceeded[] = "BudgetExceeded";  // of the condition, and of workloads
inline constexpr char kTimeZoneUnknown[] = "TimeZoneUnknown";
inline constexpr char kWatchBehind[] = "WatchBehind";
inline constexpr char kPreempted[] = "Preempted";            // likewise
inline constexpr char kGangTakenBack[] = "GangTakenBack";    // likewise
inline constexpr char kGangStays[] = "GangStays";            // likewise
inline constexpr char kPodsOnDeadNode[] = "PodsOnDeadNode";  // likewise, and of what waits
inline constexpr char kForceDeleted[] = "ForceDeleted";      // likewise
inline constexpr char kPodKept[] = "PodKept";                // likewise, and on nodes
inline constexpr char kPriorityClassNotAccepted[] = "PriorityClassNotAccepted";
inline constexpr char kPinBlocked[] = "PinBlocked";  // of the condition of that name, and of a pod
// Why a workload is in no queue.
inline constexpr char kNamespaceNotSelected[] = "NamespaceNotSelected";
inline constexpr char kNoGPUs[] = "NoGPUs";
inline constexpr char kNoQueue[] = "NoQueue";
// Why a workload waits, beside kBackingOff and kResourceNotOffered.
inline constexpr char kAdmissible[] = "Admissible";
inline constexpr char kBehindInQueue[] = "BehindInQueue";
inline constexpr char kExceedsAdmission[] = "ExceedsAdmission";
inline constexpr char kExceedsMaximum[] = "ExceedsMaximum";
inline constexpr char kFragmented[] = "Fragmented";
inline constexpr char kGangSizesDisagree[] = "GangSizesDisagree";
inline constexpr char kMayNotBorrow[] = "MayNotBorrow";
inline constexpr char kNoQuota[] = "NoQuota";
inline constexpr char kNotReady[] = "NotReady";
inline constexpr char kNoTopologyDomain[] = "NoTopologyDomain";
inline constexpr char kNodesNotSelected[] = "NodesNotSelected";
inline constexpr char kQueueInTrouble[] = "QueueInTrouble";
inline constexpr char kRecordNewer[] = "RecordNewer";  // and of conditions
inline constexpr char kQueueHeld[] = "QueueHeld";
inline constexpr char kQueueNotFound[] = "QueueNotFound";
inline constexpr char kReleaseRefused[] = "ReleaseRefused";
inline constexpr char kWaitingForOthers[] = "WaitingForOthers";
inline constexpr char kTemplateNotReady[] = "TemplateNotReady";
inline constexpr char kTopologyNeedsNodes[] = "TopologyNeedsNodes";
inline constexpr char kUnknownTopologyLevel[] = "UnknownTopologyLevel";
inline constexpr char kReserved[] = "Reserved";
inline constexpr char kUnplaceable[] = "Unplaceable";
inline constexpr char kWaitingForGang[] = "WaitingForGang";
inline constexpr char kWaitingForQuota[] = "WaitingForQuota";
inline constexpr char kWaitingForRoom[] = "WaitingForRoom";

}  // namespace berth::reasons
