// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/policy_events.h"

#include <fmt/format.h>

#include "apis/base/reasons.h"
#include "controller/core/conditions.h"

namespace berth {
namespace {

bool is_reconciling(const GPUClusterPolicyStatus& status, std::string_view reason) {
  const Condition* going = find_true(status.conditions, "Reconciling");
  return going != nullptr && going->reason == reason;
}

// Returns why nothing makes progress; nullptr if something does, or all is done.
const Condition* obstacle_of(const GPUClusterPolicyStatus& status) {
  if (const Condition* stalled = find_true(status.conditions, "Stalled")) return stalled;
  const Condition* waits = find_true(status.conditions, "Reconciling");
  return waits != nullptr && (waits->reason == reasons::kDisruptionWindow ||
                              waits->reason == reasons::kPoolMaxUnavailable)
             ? waits
             : nullptr;
}

// Each reason is reported once, and again if an edit of the spec changed the message.
bool is_new(const Condition& obstacle, const Condition* before) {
  return before == nullptr || before->reason != obstacle.reason ||
         (before->observed_generation != obstacle.observed_generation &&
          before->message != obstacle.message);
}

}  // namespace

std::vector<EventNote> policy_events(const GPUClusterPolicy& policy,
                                     const GPUClusterPolicyStatus& next, bool labelled) {
  const GPUClusterPolicyStatus& was = policy.status;
  std::vector<EventNote> events;
  const auto tell = [&](bool warning, const char* reason, std::string note) {
    events.push_back({ref_of(policy), warning, reason, "Apply", std::move(note)});
  };
  if (is_reconciling(next, reasons::kRetreating) && !is_reconciling(was, reasons::kRetreating))
    tell(false, reasons::kDeleting, find_true(next.conditions, "Reconciling")->message);
  const Condition* ready = find_true(next.conditions, "Ready");
  if (is_reconciling(was, reasons::kLabelling) && labelled && ready == nullptr &&
      !policy.meta.deletion_timestamp)
    tell(false, reasons::kPoolsLabelled,
         fmt::format("{} nodes carry the labels and taints of their pools", next.totals.nodes));
  if (const Condition* obstacle = obstacle_of(next);
      obstacle != nullptr && is_new(*obstacle, obstacle_of(was)))
    tell(obstacle->type == "Stalled", reasons::kPolicyBlocked,
         fmt::format("{}: {}", obstacle->reason, obstacle->message));
  if (ready != nullptr && find_true(was.conditions, "Ready") == nullptr)
    tell(false, reasons::kPoolsInPlace, ready->message);
  return events;
}

}  // namespace berth
