// SPDX-License-Identifier: Apache-2.0
// PolicyReason: what each reason in apis/base/reasons.h means for a GPUClusterPolicy.
#pragma once

#include <span>
#include <string_view>

#include "apis/base/reasons.h"
#include "controller/core/conditions.h"
#include "controller/mig/layout_reasons.h"

namespace berth {

struct PolicyReason {
  std::string_view reason;
  Outlook outlook = Outlook::kReconciling;
  bool in_part = false;  // it concerns one taint, node or class, and the others continue
};
// Every reason of the policy's conditions.
std::span<const PolicyReason> policy_reasons();
const PolicyReason* find_policy_reason(std::string_view reason);

// Every event of the policy except WriteRefused, which any object may get.
std::span<const EventReason> policy_event_reasons();

}  // namespace berth
