// SPDX-License-Identifier: Apache-2.0
// GPUQueueRules: the messages of GPUQueue's cross-field rules. The CRD's CEL rules have the same
// messages; a test compares them.
#pragma once

#include "apis/kinds/selector_rules.h"

namespace berth::rules {

inline constexpr char kQueueName[] =
    "the name may have at most 63 characters, because pods carry it in a label";
inline constexpr char kUnknownGpu[] =
    "NVIDIA's device plugin offers no such resource; write nvidia.com/gpu, nvidia.com/gpu.shared "
    "or a MIG profile, as nvidia.com/mig-1g.10gb";
inline constexpr char kBorrowAlone[] =
    "a queue without cohortName has nobody to borrow from; write cohortName, or remove "
    "borrowingLimit";
inline constexpr char kLendAlone[] =
    "a queue without cohortName has nobody to lend to; write cohortName, or remove lendingLimit";
inline constexpr char kLendAboveNominal[] =
    "a queue cannot lend more than it has; write a lendingLimit of at most nominalQuota";
inline constexpr char kReclaimAlone[] =
    "a queue without cohortName has lent nothing that it could reclaim; write cohortName, or "
    "reclaimWithinCohort: Never";
inline constexpr char kDefaultOfNone[] =
    "a default queue needs to know whose default it is; write namespaceSelector, {} for every "
    "namespace";
inline constexpr char kTwoTopologies[] =
    "a level is either required or preferred; remove one of the two";
inline constexpr char kNothingLimited[] =
    "namespaceQuota is enabled and limits nothing; write hard or maxPerPod, or enabled: false";

}  // namespace berth::rules
