// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/layout_reasons.h"

#include <algorithm>

#include "controller/core/refused_write.h"

namespace berth {
namespace {

using namespace reasons;

constexpr LayoutReason kLayoutReasons[] = {
    {kAgentNotConfigured, Column::kBlocked, Outlook::kStalled},
    {kCapacityGuard, Column::kBlocked, Outlook::kReconciling},
    {kContested, Column::kBlocked, Outlook::kStalled},
    {kDoNotDisrupt, Column::kBlocked, Outlook::kReconciling},
    {kDraNode, Column::kBlocked, Outlook::kStalled},
    {kEvictionForbidden, Column::kBlocked, Outlook::kStalled},
    {kHeld, Column::kBlocked, Outlook::kReconciling},
    {kInvalidLayout, Column::kBlocked, Outlook::kStalled},
    {kInventoryUnknown, Column::kBlocked, Outlook::kStalled},
    {kJobRunning, Column::kBlocked, Outlook::kReconciling},
    {kLastProvider, Column::kBlocked, Outlook::kReconciling},
    {kLocalStorage, Column::kBlocked, Outlook::kReconciling},
    {kMigManagerMissing, Column::kBlocked, Outlook::kStalled},
    {kMigNotCapable, Column::kBlocked, Outlook::kStalled},
    {kOwnPod, Column::kBlocked, Outlook::kReconciling},
    {kPodDisruptionBudget, Column::kBlocked, Outlook::kReconciling},
    {kPodStays, Column::kBlocked, Outlook::kStalled},
    {kRolloutForgotten, Column::kBlocked, Outlook::kStalled},
    {kToleratesCordon, Column::kBlocked, Outlook::kStalled},
    {kUnknownProduct, Column::kBlocked, Outlook::kStalled},
    {kOwnerWouldFail, Column::kBlocked, Outlook::kReconciling},
    {kUnmanagedPod, Column::kBlocked, Outlook::kReconciling},
    {kVirtualMachineNode, Column::kBlocked, Outlook::kStalled},
    {kWriteRefused, Column::kBlocked, Outlook::kStalled},

    {kAdmissionInFlight, Column::kPending, Outlook::kReconciling},
    {kAgentFailed, Column::kPending, Outlook::kStalled},
    {kAgentPending, Column::kPending, Outlook::kReconciling},
    {kAllocatableMismatch, Column::kPending, Outlook::kStalled},
    {kAskingPods, Column::kPending, Outlook::kReconciling},
    {kAutoscalerDeleting, Column::kPending, Outlook::kReconciling},
    {kBackingOff, Column::kPending, Outlook::kReconciling},
    {kClaiming, Column::kPending, Outlook::kReconciling},
    {kConfigNotRendered, Column::kPending, Outlook::kReconciling},
    {kDisruptionWindow, Column::kPending, Outlook::kReconciling},
    {kInitialBatch, Column::kPending, Outlook::kReconciling},
    {kLayoutHalted, Column::kPending, Outlook::kStalled},
    {kMaxUnavailable, Column::kPending, Outlook::kReconciling},
    {kNodeNotReady, Column::kPending, Outlook::kReconciling},
    {kOperationsStopped, Column::kPending, Outlook::kSuspended},
    {kPaused, Column::kPending, Outlook::kSuspended},
    {kPoolMaxUnavailable, Column::kPending, Outlook::kReconciling},
    {kUpgradeInProgress, Column::kPending, Outlook::kReconciling},

    {kAgentRebooting, Column::kUnderWay, Outlook::kReconciling},
    {kLateBinding, Column::kUnderWay, Outlook::kReconciling},
    {kPodsLeaving, Column::kUnderWay, Outlook::kReconciling},
    {kSettling, Column::kUnderWay, Outlook::kReconciling},
    {kVerifying, Column::kUnderWay, Outlook::kReconciling},

    {kAgentConfigTooLarge, Column::kNone, Outlook::kStalled},
    {kAllNodesUpdated, Column::kNone, Outlook::kReady},
    {kDeleting, Column::kNone, Outlook::kReconciling},
    {kInvalidSpec, Column::kNone, Outlook::kStalled},
    {kNodeFailed, Column::kNone, Outlook::kStalled},
    {kNoNodesSelected, Column::kNone, Outlook::kReconciling},
    {kRollingOut, Column::kNone, Outlook::kReconciling},
};

constexpr EventReason kRolloutEvents[] = {
    {"MIGLayout", kRolloutStarted},
    {"MIGLayout", kRolloutBlocked},
    {"MIGLayout", kNodeUpdated},
    {"MIGLayout", kNodeFailed},
    {"MIGLayout", kRolloutFinished},
    {"MIGLayout", kDeleting},
    {"MIGLayout", kDeleted},
    {"MIGLayout", kAgentConfigTooLarge},
    {"ConfigMap", kAgentConfigTooLarge},
    {"Node", kCordoned},
    {"Node", kRepartitioning},
    {"Node", kRepartitioned},
    {"Node", kRetrying},
    {"Node", kAgentFailed},
    {"Node", kRollingBack},
    {"Node", kRolledBack},
    {"Node", kRolloutFailed},
    {"Node", kRestored},
    {"Node", kReleased},
    {"Node", kReturned},
    {"Node", kUncordonedByHand},
    {"Node", kLateBinding},
    {"Node", kRolloutForgotten},
};

const LayoutReason* find(std::string_view reason) {
  const auto* row = std::ranges::find(kLayoutReasons, reason, &LayoutReason::reason);
  return row == std::end(kLayoutReasons) ? nullptr : row;
}

}  // namespace

std::span<const LayoutReason> layout_reasons() { return kLayoutReasons; }
std::span<const EventReason> rollout_event_reasons() { return kRolloutEvents; }

bool only_pending(std::string_view reason) {
  const LayoutReason* row = find(reason);
  return row != nullptr && row->column == Column::kPending;
}

Outlook outlook_of(std::string_view reason) {
  const LayoutReason* row = find(reason);
  return row != nullptr ? row->outlook : Outlook::kReconciling;
}

}  // namespace berth
