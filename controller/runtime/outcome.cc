// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/outcome.h"

#include <algorithm>

#include "apis/base/eviction_outcome.h"
#include "controller/core/refused_write.h"

namespace berth {

using namespace std::chrono_literals;

const char* to_string(Fate fate) {
  switch (fate) {
    case Fate::kNothing:
      return "nothing";
    case Fate::kDone:
      return "done";
    case Fate::kAnswered:
      return "answered";
    case Fate::kRefused:
      return "refused";
    case Fate::kConflict:
      return "conflict";
    case Fate::kRetry:
      return "retry";
    case Fate::kRejected:
      return "rejected";
    case Fate::kStopped:
      return "stopped";
  }
  return "?";
}

Fate fate_of(const Error& error) {
  if (is_refusal(error)) return Fate::kRejected;
  switch (error.kind) {
    case ErrorKind::kConflict:
    case ErrorKind::kAlreadyExists:
    case ErrorKind::kNotFound:
    case ErrorKind::kGone:
      return Fate::kConflict;
    case ErrorKind::kInvalid:
    case ErrorKind::kInvalidSpec:
    case ErrorKind::kForbidden:
    case ErrorKind::kBadRequest:
      return Fate::kRejected;
    case ErrorKind::kCancelled:
      return Fate::kStopped;
    case ErrorKind::kDecode:
    case ErrorKind::kUnauthorized:
    case ErrorKind::kThrottled:
    case ErrorKind::kTimeout:
    case ErrorKind::kUnavailable:
    case ErrorKind::kServer:
      return Fate::kRetry;
  }
  return Fate::kRetry;
}

Fate fate_of_eviction(const Error& error) {
  switch (classify_eviction(error)) {
    case EvictionOutcome::kStarted:
      return Fate::kDone;
    case EvictionOutcome::kGone:
    case EvictionOutcome::kOtherPod:
    case EvictionOutcome::kNamespaceTerminating:  // being deleted; the cache will show it
      return Fate::kConflict;
    case EvictionOutcome::kBudgetExhausted:
    case EvictionOutcome::kBudgetLagging:
    case EvictionOutcome::kTwoBudgets:
    case EvictionOutcome::kBudgetController:
    case EvictionOutcome::kForbidden:
    case EvictionOutcome::kRefused:
      return Fate::kAnswered;
    case EvictionOutcome::kThrottled:  // no fact about the pod
    case EvictionOutcome::kUnknown:
      return Fate::kRetry;
    case EvictionOutcome::kCancelled:
      return Fate::kStopped;
  }
  return Fate::kRetry;
}

const char* eviction_result(bool deleted, const Error* error) {
  if (error == nullptr) return deleted ? "deleted" : "evicted";
  switch (classify_eviction(*error)) {
    case EvictionOutcome::kStarted:
      return "evicted";
    case EvictionOutcome::kGone:
    case EvictionOutcome::kOtherPod:
    case EvictionOutcome::kNamespaceTerminating:
      return "gone";
    case EvictionOutcome::kBudgetExhausted:
    case EvictionOutcome::kBudgetLagging:
    case EvictionOutcome::kTwoBudgets:
    case EvictionOutcome::kBudgetController:
      return "budget";
    case EvictionOutcome::kForbidden:
    case EvictionOutcome::kRefused:
      return "refused";
    case EvictionOutcome::kThrottled:
    case EvictionOutcome::kUnknown:
    case EvictionOutcome::kCancelled:
      return "retry";
  }
  return "retry";
}

LogLevel level_of(Fate fate) {
  return fate == Fate::kDone || fate == Fate::kAnswered || fate == Fate::kConflict
             ? LogLevel::kInfo
             : LogLevel::kWarn;
}

Error not_leading() {
  return Error{.kind = ErrorKind::kCancelled, .message = "not sent: this process does not lead"};
}

void Outcome::settle(const ObjectRef& object, const Verdict& verdict, bool has_line) {
  const auto& [verdict_fate, verdict_error] = verdict;
  if (verdict_fate == Fate::kConflict || verdict_fate == Fate::kRefused)
    conflicts.push_back(object);
  if (verdict_error.retry_after && verdict_fate == Fate::kRetry) {
    const std::chrono::nanoseconds after =
        std::min<std::chrono::nanoseconds>(*verdict_error.retry_after, 60s);
    retry_after = std::max(after, retry_after.value_or(0ns));
  }
  if (verdict_fate <= fate) return;
  fate = verdict_fate;
  logged = has_line;
  if (verdict_fate > Fate::kDone) error = describe(verdict_error);
}

}  // namespace berth
