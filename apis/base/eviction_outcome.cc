// SPDX-License-Identifier: Apache-2.0
#include "apis/base/eviction_outcome.h"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace berth {
namespace {

bool has_cause(const Error& error, std::string_view reason) {
  return std::any_of(error.causes.begin(), error.causes.end(),
                     [&](const ErrorCause& cause) { return cause.reason == reason; });
}

bool says(const Error& error, std::string_view words) {
  return error.message.find(words) != std::string::npos;
}

// 429 comes from a budget or from API priority and fairness; only the cause distinguishes them.
EvictionOutcome classify_too_many(const Error& error) {
  if (!has_cause(error, "DisruptionBudget")) return EvictionOutcome::kThrottled;
  const bool told_when = error.retry_after.value_or(std::chrono::seconds(0)).count() > 0;
  return told_when ? EvictionOutcome::kBudgetLagging : EvictionOutcome::kBudgetExhausted;
}

EvictionOutcome classify_forbidden(const Error& error) {
  if (has_cause(error, "NamespaceTerminating")) return EvictionOutcome::kNamespaceTerminating;
  // The server sends no reason for these two.
  if (says(error, "DisruptedPods map too big") || says(error, "disruptions allowed is negative")) {
    return EvictionOutcome::kBudgetController;
  }
  return EvictionOutcome::kForbidden;
}

}  // namespace

const char* to_string(EvictionOutcome outcome) {
  switch (outcome) {
    case EvictionOutcome::kStarted:
      return "Started";
    case EvictionOutcome::kGone:
      return "Gone";
    case EvictionOutcome::kOtherPod:
      return "OtherPod";
    case EvictionOutcome::kBudgetExhausted:
      return "BudgetExhausted";
    case EvictionOutcome::kBudgetLagging:
      return "BudgetLagging";
    case EvictionOutcome::kThrottled:
      return "Throttled";
    case EvictionOutcome::kTwoBudgets:
      return "TwoBudgets";
    case EvictionOutcome::kNamespaceTerminating:
      return "NamespaceTerminating";
    case EvictionOutcome::kBudgetController:
      return "BudgetController";
    case EvictionOutcome::kForbidden:
      return "Forbidden";
    case EvictionOutcome::kRefused:
      return "Refused";
    case EvictionOutcome::kUnknown:
      return "Unknown";
    case EvictionOutcome::kCancelled:
      return "Cancelled";
  }
  return "?";
}

EvictionOutcome classify_eviction(const Error& error) {
  if (error.kind == ErrorKind::kCancelled) return EvictionOutcome::kCancelled;
  switch (error.http_code) {
    case 401:  // the credentials have expired
      return EvictionOutcome::kUnknown;
    case 403:
      return classify_forbidden(error);
    case 404:
      return EvictionOutcome::kGone;
    case 409:
      return EvictionOutcome::kOtherPod;
    case 429:
      return classify_too_many(error);
    case 500:
      return says(error, "more than one PodDisruptionBudget") ? EvictionOutcome::kTwoBudgets
                                                              : EvictionOutcome::kUnknown;
    default:
      break;
  }
  const bool refused = error.http_code >= 400 && error.http_code < 500 && error.http_code != 408;
  return refused ? EvictionOutcome::kRefused : EvictionOutcome::kUnknown;
}

}  // namespace berth
