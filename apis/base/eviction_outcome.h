// SPDX-License-Identifier: Apache-2.0
// EvictionOutcome: what the reply to an eviction says about the pod. berth decides by code, reason
// and causes. It reads the message only if the server gives nothing else (two budgets for one pod).
#pragma once

#include <string>

#include "apis/base/result.h"

namespace berth {

enum class EvictionOutcome {
  kStarted,          // 2xx: deletion has started; the pod holds its GPUs until it is gone
  kGone,             // 404
  kOtherPod,         // 409: the uid precondition failed, the name belongs to another pod
  kBudgetExhausted,  // 429, cause DisruptionBudget: the budget allows no eviction now
  // 429, cause DisruptionBudget, Retry-After: the budget's status is outdated; ask again soon.
  kBudgetLagging,
  kThrottled,  // 429 without that cause: API priority and fairness, no fact about the pod
  // 500: more than one PodDisruptionBudget selects the pod; lasts until a user fixes it.
  kTwoBudgets,
  kNamespaceTerminating,  // 403 with that cause: the namespace's deletion removes the pod anyway
  kBudgetController,      // 403: the budget's bookkeeping is broken or full
  kForbidden,             // 403: RBAC or an admission policy
  kRefused,               // another 4xx: the same request will fail again
  kUnknown,               // 5xx, a timeout, no reply: maybe evicted, so read the pod before a retry
  kCancelled,             // berth cancelled the request
};
const char* to_string(EvictionOutcome outcome);

// Classifies an eviction that failed with `error`. A successful reply is kStarted, so it needs no
// call.
EvictionOutcome classify_eviction(const Error& error);

}  // namespace berth
