// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/owner_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/explore/look.h"

namespace berth::explore {
namespace {

using nlohmann::json;

// The uid of the framework's job that controls the pod; empty: none does.
std::string job_of(const json& pod) {
  const json* owners = at(&pod, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return "";
  const auto found = std::ranges::find_if(*owners, [](const json& owner) {
    return true_at(&owner, {"controller"}) && text_at(&owner, {"kind"}) == "TFJob";
  });
  return found == owners->end() ? "" : text_at(&*found, {"uid"});
}

bool has_failed(const json& job) {
  const json* conditions = at(&job, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return false;
  return std::ranges::any_of(*conditions, [](const json& condition) {
    return text_at(&condition, {"type"}) == "Failed" && text_at(&condition, {"status"}) == "True";
  });
}

bool is_going(const json* object) {
  return !text_at(object, {"metadata", "deletionTimestamp"}).empty();
}

bool is_failed_pod(const json* pod) { return text_at(pod, {"status", "phase"}) == "Failed"; }

}  // namespace

void OwnerInvariants::take(const sim::Change& change, bool by_berth) {
  if (change.key.type->plural == "pods") take_pod(change, by_berth);
  if (change.key.type->plural == "tfjobs") take_job(change);
}

// The pod begins to terminate, or fails by itself. An unscheduled pod has not started.
void OwnerInvariants::take_pod(const sim::Change& change, bool by_berth) {
  if (change.after == nullptr || text_at(change.after.get(), {"spec", "nodeName"}).empty()) return;
  const std::string job = job_of(*change.after);
  if (job.empty() || is_going(change.before.get())) return;
  const bool goes = is_going(change.after.get()) || change.kind == sim::Change::Kind::kDeleted;
  if (goes) (by_berth ? taken_ : others_).insert(job);
  if (!goes && is_failed_pod(change.after.get()) && !is_failed_pod(change.before.get()))
    others_.insert(job);
}

void OwnerInvariants::take_job(const sim::Change& change) {
  if (change.kind == sim::Change::Kind::kDeleted || !has_failed(*change.after)) return;
  const std::string& uid = text_at(change.after.get(), {"metadata", "uid"});
  if (!taken_.contains(uid) || others_.contains(uid)) return;
  if (change.before != nullptr && has_failed(*change.before)) return;
  broken_.push_back(fmt::format("Owner: {} has failed for good, and berth has evicted a pod of it",
                                change.key.str()));
}

}  // namespace berth::explore
