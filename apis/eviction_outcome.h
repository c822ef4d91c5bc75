// SPDX-License-Identifier: Apache-2.0
// What an eviction's reply says about the pod. Told by code, reason and causes as the API server
// sends them; texts only where the server gives nothing else (two budgets on one pod).
#pragma once

#include <string>

#include "apis/result.h"

namespace berth {

enum class EvictionOutcome {
  kStarted,          // 2xx: deletion has begun; the pod still holds its GPUs until it is gone
  kGone,             // 404
  kOtherPod,         // 409: the uid precondition failed, another pod has the name
  kBudgetExhausted,  // 429, cause DisruptionBudget: the budget allows nobody now
  kBudgetLagging,    // 429, cause DisruptionBudget, Retry-After: the budget's status is behind; ask
                     // again soon
  kThrottled,        // 429 without that cause: the server's fairness limit, no fact about the pod
  kTwoBudgets,  // 500: more than one PodDisruptionBudget selects the pod; permanent until a user
                // fixes it
  kNamespaceTerminating,  // 403 with that cause: the pod is on its way out anyway
  kBudgetController,      // 403: the budget's bookkeeping is broken or full
  kForbidden,             // 403: RBAC or an admission policy
  kRefused,               // another 4xx: asking again unchanged is pointless
  kUnknown,               // 5xx, a timeout, no reply: evicted or not, look before asking again
  kCancelled,             // we stopped it ourselves
};
const char* to_string(EvictionOutcome outcome);

// How an eviction that failed with `error` is to be read. A reply is a kStarted and needs no
// classifying.
EvictionOutcome classify_eviction(const Error& error);

}  // namespace berth
