// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/stop_invariants.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "apis/base/names.h"
#include "tests/explore/look.h"

namespace berth::explore {

using nlohmann::json;
using sim::Change;
using namespace std::chrono_literals;

namespace {

// From the plan to the last of its steps.
constexpr std::chrono::nanoseconds kInFlight = 5s;

bool goes(const json* object) {
  return !text_at(object, {"metadata", "deletionTimestamp"}).empty();
}

}  // namespace

void StopInvariants::take(const Change& change, bool by_berth, MonotonicTime now,
                          std::chrono::nanoseconds news_takes, const Complain& complain) {
  const json* after = change.kind == Change::Kind::kDeleted ? nullptr : change.after.get();
  if (change.key.type->plural == "gpuclusterpolicies")
    by_policy_ = text_at(after, {"spec", "operations"}) == "Stopped";
  if (change.key.type->plural == "namespaces" && change.key.name == settings_.berth_namespace)
    by_namespace_ = !annotation_at(after, names::kStopAnnotation).empty();
  if (!by_policy_ && !by_namespace_)
    since_.reset();
  else if (!since_)
    since_ = now;
  if (by_berth && since_ && now > *since_ + news_takes + kInFlight) judge(change, complain);
}

void StopInvariants::judge(const Change& change, const Complain& complain) const {
  const std::string_view plural = change.key.type->plural;
  const json *before = change.before.get(), *after = change.after.get();
  if (plural == "nodes") return judge_node(change, complain);
  if (plural == "pods" && !goes(before) && (change.kind == Change::Kind::kDeleted || goes(after)))
    complain("Stopped", change.key.str() + " is taken from its node");
  if (plural == "jobs" && before != nullptr && !true_at(before, {"spec", "suspend"}) &&
      true_at(after, {"spec", "suspend"}))
    complain("Stopped", change.key.str() + " is suspended");
}

void StopInvariants::judge_node(const Change& change, const Complain& complain) const {
  const json *before = change.before.get(), *after = change.after.get();
  const std::string& name = change.key.name;
  if (!true_at(before, {"spec", "unschedulable"}) && true_at(after, {"spec", "unschedulable"}))
    complain("Stopped", name + " is cordoned");
  for (const char* key : {names::kMigConfig, names::kDevicePluginConfig, names::kPoolLabel})
    if (label_at(before, key) != label_at(after, key))
      complain("Stopped", fmt::format("label {} of {} changes", key, name));
  const json *was = at(before, {"spec", "taints"}), *is = at(after, {"spec", "taints"});
  if ((was == nullptr) != (is == nullptr) || (was != nullptr && *was != *is))
    complain("Stopped", fmt::format("the taints of {} change", name));
}

}  // namespace berth::explore
