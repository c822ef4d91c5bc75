// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/policy_reasons.h"

#include <algorithm>

#include "controller/core/refused_write.h"
#include "controller/health/reconcile.h"

namespace berth {
namespace {

using namespace reasons;

constexpr PolicyReason kPolicyReasons[] = {
    {kPoolsInPlace, Outlook::kReady},
    {kLabelling, Outlook::kReconciling},
    {kPluginRollout, Outlook::kReconciling},
    {kDisruptionWindow, Outlook::kReconciling},
    {kPoolMaxUnavailable, Outlook::kReconciling},
    {kRetreating, Outlook::kReconciling},
    {kOperationsStopped, Outlook::kSuspended},
    {kPolicyInvalid, Outlook::kStalled},
    {kWriteRefused, Outlook::kStalled},
    {kKeyForbidden, Outlook::kStalled},
    {kAgentsMismatch, Outlook::kStalled},
    {kOperandsNotTolerant, Outlook::kStalled, true},
    {kPluginNotConfigured, Outlook::kStalled},
    {kPluginKeysMissing, Outlook::kStalled},
    {kPluginDefaultTaken, Outlook::kStalled},
    {kMigStrategyOverridden, Outlook::kStalled},
    {kKeysContested, Outlook::kStalled, true},
    {kPriorityClassTaken, Outlook::kStalled, true},
};

constexpr EventReason kPolicyEvents[] = {
    {"GPUClusterPolicy", kPoolsLabelled},
    {"GPUClusterPolicy", kPolicyBlocked},
    {"GPUClusterPolicy", kPoolsInPlace},
    {"GPUClusterPolicy", kDeleting},
    {"GPUClusterPolicy", kDeleted},
    {"Node", kPoolKeysCorrected},
    {"Node", kGpusUnhealthy},
    {"Node", kUnhealthyCordoned},
    {"Node", kGpusRecovered},
    {"Node", kProofFailed},
    {"Node", kPodKept},
};

}  // namespace

std::span<const PolicyReason> policy_reasons() { return kPolicyReasons; }
std::span<const EventReason> policy_event_reasons() { return kPolicyEvents; }

const PolicyReason* find_policy_reason(std::string_view reason) {
  const auto* row = std::ranges::find(kPolicyReasons, reason, &PolicyReason::reason);
  return row == std::end(kPolicyReasons) ? nullptr : row;
}

}  // namespace berth
