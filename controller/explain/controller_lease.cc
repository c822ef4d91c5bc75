// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/controller_lease.h"

#include <fmt/format.h>

#include "apis/base/names.h"

namespace berth {
namespace {

constexpr char kLeases[] = "leases.coordination.k8s.io";
// The Lease has the controller's time, the snapshot that of the user's machine.
constexpr Duration kSkew = std::chrono::minutes(1);

}  // namespace

std::string told_absence(const Snapshot& snapshot, const Clues& clues) {
  if (!clues.lease || !clues.lease->renew_time) return {};
  const Time renewed = *clues.lease->renew_time;
  const Duration term = std::chrono::seconds(clues.lease->lease_duration_seconds);
  if (snapshot.now <= renewed + term + kSkew) return {};
  return fmt::format("no berth controller has run since {}", format_time(renewed));
}

std::string promise_condition(const Snapshot& snapshot, const Clues& clues) {
  const Unread* unread = clues.find_unread(kLeases);
  if (unread == nullptr) return {};
  if (unread->reason == "NotFound")
    return fmt::format(", if a berth controller runs: namespace {} has no Lease of one",
                       snapshot.settings.berth_namespace);
  return ", if a berth controller runs, which this account may not see";
}

Attention leader_attention(const Clues& clues) {
  if (!clues.lease || !clues.lease->acquire_time) return {};
  return {.since = *clues.lease->acquire_time};
}

std::string told_other_version(const Clues& clues, std::string_view own) {
  if (!clues.lease) return {};
  const std::string_view leads =
      clues.lease->meta.annotations.get(names::kVersionAnnotation).view();
  if (leads.empty() || leads == own) return {};
  return fmt::format(
      "the leading controller is berth {} and this command is berth {}; the controller decides by "
      "its "
      "own rules, so this answer may differ from what it does",
      leads, own);
}

}  // namespace berth
