// SPDX-License-Identifier: Apache-2.0
// Reasons: the words in conditions, in status.details[].reason and in events. They are API, because
// users' scripts depend on them. docs/reasons.md explains each.
#pragma once

namespace berth::reasons {

// On any object: the API server refuses a write for good. In conditions of nodes, layouts and
// policies, and in an event on the object of the write.
inline constexpr char kWriteRefused[] = "WriteRefused";
// In condition Stopped of all berth's objects, and on all that waits until berth resumes.
inline constexpr char kOperationsStopped[] = "OperationsStopped";

// -- MIGLayout --
// Why a node waits, if the layout's owner can change it (status.nodes.blocked).
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
// Why a node waits, if the wait ends by itself (status.nodes.pending).
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
// Reasons for which a node in progress waits.
inline constexpr char kAgentPending[] = "AgentPending";
inline constexpr char kAgentFailed[] = "AgentFailed";
inline constexpr char kAgentRebooting[] = "AgentRebooting";
inline constexpr char kConfigNotRendered[] = "ConfigNotRendered";
inline constexpr char kAgentConfigTooLarge[] = "AgentConfigTooLarge";
inline constexpr char kLateBinding[] = "LateBinding";
inline constexpr char kPodsLeaving[] = "PodsLeaving";
inline constexpr char kSettling[] = "Settling";
inline constexpr char kVerifying[] = "Verifying";
// In conditions.
inline constexpr char kAllNodesUpdated[] = "AllNodesUpdated";
inline constexpr char kInvalidSpec[] = "InvalidSpec";
inline constexpr char kNoNodesSelected[] = "NoNodesSelected";
inline constexpr char kNodeFailed[] = "NodeFailed";
inline constexpr char kRollingOut[] = "RollingOut";
inline constexpr char kDeleting[] = "Deleting";
// In events about a layout, with NodeFailed, Deleting and AgentConfigTooLarge.
inline constexpr char kRolloutStarted[] = "RolloutStarted";
inline constexpr char kRolloutBlocked[] = "RolloutBlocked";
inline constexpr char kRolloutFinished[] = "RolloutFinished";
inline constexpr char kNodeUpdated[] = "NodeUpdated";
inline constexpr char kDeleted[] = "Deleted";
// In events about a node, with AgentFailed, LateBinding and RolloutForgotten.
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
// In Ready, Reconciling and Stalled.
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
// In events about the policy, with PoolsInPlace, Deleting and Deleted.
inline constexpr char kPoolKeysCorrected[] = "PoolKeysCorrected";
inline constexpr char kPolicyBlocked[] = "PolicyBlocked";
inline constexpr char kPoolsLabelled[] = "PoolsLabelled";
// In MetricsMissing.
inline constexpr char kMetricsUnreachable[] = "MetricsUnreachable";
inline constexpr char kMetricsUnreadable[] = "MetricsUnreadable";
inline constexpr char kMetricsRefused[] = "MetricsRefused";
inline constexpr char kExporterMissing[] = "ExporterMissing";
inline constexpr char kSeriesMissing[] = "SeriesMissing";
inline constexpr char kSeriesImplausible[] = "SeriesImplausible";
inline constexpr char kPodsNotNamed[] = "PodsNotNamed";
// In MetricsIgnored.
inline constexpr char kForeignSeries[] = "ForeignSeries";
// In NotConfirmed.
inline constexpr char kExporterDisagrees[] = "ExporterDisagrees";
inline constexpr char kExporterSilent[] = "ExporterSilent";
// The condition ClockSkewed and its reason.
inline constexpr char kClockSkewed[] = "ClockSkewed";
// In HealthLimited.
inline constexpr char kTooManyUnhealthy[] = "TooManyUnhealthy";
// In events about a node whose GPUs fail.
inline constexpr char kGpusUnhealthy[] = "GPUsUnhealthy";
inline constexpr char kUnhealthyCordoned[] = "UnhealthyCordoned";
inline constexpr char kGpusRecovered[] = "GPUsRecovered";
inline constexpr char kProofFailed[] = "ProofFailed";

// -- Pods --
inline constexpr char kSlippedPastAdmission[] = "SlippedPastAdmission";  // in the event on the pod
inline constexpr char kGpusIdle[] = "GPUsIdle";                          // in the event on the pod
inline constexpr char kGpusReclaimed[] = "GPUsReclaimed";  // in events on pods and Jobs
inline constexpr char kGpusKept[] = "GPUsKept";            // in events on pods and Jobs

// -- Further answers of `berth why` --
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
// In Ready and Stalled, with kQueueHeld.
inline constexpr char kQueueActive[] = "QueueActive";
inline constexpr char kQueueInvalid[] = "QueueInvalid";
inline constexpr char kMixedQuotaUnits[] = "MixedQuotaUnits";
// In Unfunded, NamespaceNotManaged, DefaultContested, NamespaceQuotaUnmet, BudgetExceeded,
// BudgetPeriodUnclear, PriorityClassNotAccepted, PinBlocked and AdmissionsPaused, with
// kWriteRefused. WorkloadsLeftAlone has kRecordNewer.
inline constexpr char kNodesOfferLess[] = "NodesOfferLess";
inline constexpr char kPoolUnknown[] = "PoolUnknown";
inline constexpr char kNamespaceNotManaged[] = "NamespaceNotManaged";
inline constexpr char kDefaultContested[] = "DefaultContested";
inline constexpr char kQuotaNameTaken[] = "QuotaNameTaken";
inline constexpr char kTighterQuota[] = "TighterQuota";
inline constexpr char kNamespaceQuotaCorrected[] = "NamespaceQuotaCorrected";  // in an event
inline constexpr char kBudgetExceeded[] = "BudgetExceeded";  // in the condition, and on workloads
inline constexpr char kTimeZoneUnknown[] = "TimeZoneUnknown";
inline constexpr char kWatchBehind[] = "WatchBehind";
inline constexpr char kPreempted[] = "Preempted";          // in an event
inline constexpr char kGangTakenBack[] = "GangTakenBack";  // in an event
inline constexpr char kGangStays[] = "GangStays";          // in an event
// in an event, and on pending workloads
inline constexpr char kPodsOnDeadNode[] = "PodsOnDeadNode";
inline constexpr char kForceDeleted[] = "ForceDeleted";  // in an event
inline constexpr char kPodKept[] = "PodKept";            // in an event, and on nodes
inline constexpr char kPriorityClassNotAccepted[] = "PriorityClassNotAccepted";
inline constexpr char kPinBlocked[] = "PinBlocked";  // in the condition of that name, and on a pod
// Why a workload is in no queue.
inline constexpr char kNamespaceNotSelected[] = "NamespaceNotSelected";
inline constexpr char kNoGPUs[] = "NoGPUs";
inline constexpr char kNoQueue[] = "NoQueue";
// Why a workload waits, with kBackingOff and kResourceNotOffered.
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
inline constexpr char kRecordNewer[] = "RecordNewer";  // also in conditions
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
