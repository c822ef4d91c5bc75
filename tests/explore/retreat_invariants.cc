// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/retreat_invariants.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "apis/codec/decode_policy.h"
#include "controller/core/time_zones.h"
#include "controller/fleet/disruption_calendar.h"
#include "tests/explore/look.h"

namespace berth::explore {

using nlohmann::json;
using sim::Change;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::nanoseconds kHeard = 60s;      // an edit of the policy, at the latest
constexpr std::chrono::nanoseconds kRestarts = 5min;  // a plugin, at the longest

}  // namespace

void RetreatInvariants::take(const Change& change, bool by_berth, MonotonicTime now, Time wall,
                             const Complain& complain) {
  if (change.key.type->plural == "gpuclusterpolicies") return take_policy(change, now);
  if (change.key.type->plural != "nodes") return;
  const json* after = change.kind == Change::Kind::kDeleted ? nullptr : change.after.get();
  const json *had = at(change.before.get(), {"status", "allocatable"}),
             *has = at(after, {"status", "allocatable"});
  if (had == nullptr || has == nullptr || *had != *has) restarts_.erase(change.key.name);
  std::erase_if(restarts_, [&](const auto& one) { return now - one.second > kRestarts; });
  const auto loses_label = [&](const char* key) {
    return !label_at(change.before.get(), key).empty() && label_at(after, key).empty();
  };
  if (!by_berth || after == nullptr) return;
  const bool loses = loses_label(names::kDevicePluginConfig);
  if (retained_ && (loses || loses_label(names::kPoolLabel)))
    complain("Retained", change.key.name + " loses what its policy was to leave there");
  if (loses && !truth_.tenants_on(change.key.name).empty())
    judge_loss(change.key.name, now, wall, complain);
}

void RetreatInvariants::take_policy(const Change& change, MonotonicTime now) {
  if (change.kind == Change::Kind::kDeleted) return disruption_.reset();
  std::optional<Error> error;
  GPUClusterPolicy policy;
  read(JsonCursor(change.after.get(), error), policy);
  if (error) return;
  retained_ =
      policy.meta.deletion_timestamp && policy.spec.deletion_policy == PolicyDeletion::kRetain;
  if (disruption_ == policy.spec.disruption) return;
  disruption_ = policy.spec.disruption;
  since_ = now;
}

// A write that was sent in time may land a little late.
void RetreatInvariants::judge_loss(const std::string& node, MonotonicTime now, Time wall,
                                   const Complain& complain) {
  restarts_[node] = now;
  if (!disruption_ || now - since_ < kHeard) return;
  const DisruptionCalendar calendar(*disruption_, utc_only());
  if (!calendar.at(wall).open && !calendar.at(wall - std::chrono::minutes(1)).open)
    complain("Window", fmt::format("{} loses its sharing while nodes may not be taken", node));
  const IntOrPercent& most = disruption_->max_unavailable;
  if (!most.percent && static_cast<std::int64_t>(restarts_.size()) > most.value)
    complain("Budget",
             fmt::format("the plugin restarts on {} nodes with pods, the policy allows {}",
                         restarts_.size(), most.value));
}

}  // namespace berth::explore
