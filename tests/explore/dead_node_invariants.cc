// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/dead_node_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_accounts.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {

using nlohmann::json;
using sim::Change;
using namespace std::chrono_literals;

namespace {

constexpr Duration kMarkedWithin = 5min;  // of its grace period's end
constexpr std::chrono::nanoseconds kSteady = 10min;

bool has_condition(const json* object, std::string_view type, std::string_view status) {
  const json* conditions = at(object, {"status", "conditions"});
  return conditions != nullptr && std::ranges::any_of(*conditions, [&](const json& condition) {
           return text_at(&condition, {"type"}) == type &&
                  text_at(&condition, {"status"}) == status;
         });
}

std::optional<Time> time_at(const json* object, Path path) {
  const Result<Time> time = parse_time(text_at(object, path));
  return time ? std::optional(*time) : std::nullopt;
}

std::optional<Time> end_of_grace(const json* pod) {
  return time_at(pod, {"metadata", "deletionTimestamp"});
}

std::optional<Time> marked(const json* pod) {
  return time_at(pod, {"metadata", "annotations", names::kOnDeadNodeSinceAnnotation});
}

}  // namespace

void DeadNodeInvariants::take(const Change& change, bool by_berth, MonotonicTime now, Time wall,
                              std::chrono::nanoseconds news_takes, const Complain& complain) {
  const std::string_view plural = change.key.type->plural;
  const bool gone = change.kind == Change::Kind::kDeleted;
  if (plural == "nodes") return take_node(change, now);
  if (plural == "gpuqueues") {
    force_after_.erase(change.key.name);
    const Result<Duration> after =
        parse_duration(text_at(gone ? nullptr : change.after.get(), {"spec", "forceDeleteAfter"}));
    if (after) force_after_[change.key.name] = *after;
  }
  if (plural != "pods" && plural != "jobs") return;
  if (by_berth && !gone && plural == "pods") judge_mark(change, now, wall, news_takes, complain);
  if (by_berth && !gone && plural == "jobs") judge_suspension(change, now, complain);
  edited_ = edited_ || (!by_berth && plural == "jobs" && !gone && change.before != nullptr &&
                        number_at(change.before.get(), {"metadata", "generation"}) !=
                            number_at(change.after.get(), {"metadata", "generation"}));
  auto& objects = plural == "pods" ? pods_ : jobs_;
  const std::string name = change.key.namespace_ + "/" + change.key.name;
  if (gone)
    objects.erase(name);
  else
    objects[name] = change.after;
}

void DeadNodeInvariants::take_node(const Change& change, MonotonicTime now) {
  if (change.kind == Change::Kind::kDeleted) return void(nodes_.erase(change.key.name));
  const bool ready = has_condition(change.after.get(), "Ready", "True");
  const bool in_service = is_in_service(*change.after);
  const auto [node, is_new] = nodes_.try_emplace(change.key.name, ready, in_service, now);
  KnownNode& known = node->second;
  if (!is_new && (known.ready != ready || known.in_service != in_service))
    known = {ready, in_service, now};
}

bool DeadNodeInvariants::is_dead(const std::string& node, MonotonicTime now,
                                 std::chrono::nanoseconds news_takes) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return true;  // Kubernetes itself removes its pods
  return !found->second.ready || now - found->second.since <= news_takes;
}

bool DeadNodeInvariants::others_are_in_service(MonotonicTime now) const {
  return std::ranges::all_of(nodes_, [&](const auto& node) {
    return !node.second.ready || (node.second.in_service && now - node.second.since > kSteady);
  });
}

void DeadNodeInvariants::judge_mark(const Change& change, MonotonicTime now, Time wall,
                                    std::chrono::nanoseconds news_takes,
                                    const Complain& complain) const {
  const json* pod = change.after.get();
  if (!marked(pod) || marked(pod) == marked(change.before.get())) return;
  const std::string& node = text_at(pod, {"spec", "nodeName"});
  const auto ends = end_of_grace(pod);
  if (!ends || wall < *ends) complain("Lost", change.key.str() + " is marked, and has time to end");
  if (!is_dead(node, now, news_takes))
    complain("Lost", fmt::format("{} is marked, and node {} is ready", change.key.str(), node));
}

// Another workload's claim is no matter of the node; the Job says whose it is.
void DeadNodeInvariants::judge_suspension(const Change& change, MonotonicTime now,
                                          const Complain& complain) const {
  const json *before = change.before.get(), *after = change.after.get();
  if (before == nullptr || is_suspended(*before) || !is_suspended(*after)) return;
  const bool for_another = annotation_at(before, names::kPreemptedAnnotation) !=
                           annotation_at(after, names::kPreemptedAnnotation);
  if (edited_ || for_another || !others_are_in_service(now)) return;
  bool lost = false, healthy = false;
  for (const auto& [name, pod] : pods_) {
    if (owner_uid(*pod) != text_at(after, {"metadata", "uid"})) continue;
    lost = lost || is_lost(*pod);
    healthy = healthy || (has_condition(pod.get(), "Ready", "True") && !end_of_grace(pod.get()));
  }
  if (lost && healthy)
    complain("Healthy", change.key.str() +
                            " is suspended with a healthy pod, as another can't leave its node");
}

bool DeadNodeInvariants::may_force(const std::string& pod, MonotonicTime now, Time wall,
                                   std::chrono::nanoseconds news_takes) const {
  const auto found = pods_.find(pod);
  if (found == pods_.end()) return true;  // its uid keeps another one of the name
  const json* object = found->second.get();
  const auto record = record_of(*object);
  const auto after = force_after_.find(record ? record->queue : "");
  const auto since = marked(object);
  return since && after != force_after_.end() && wall >= *since + after->second &&
         annotation_at(object, names::kSafeToForceDeleteAnnotation) == "true" &&
         is_dead(text_at(object, {"spec", "nodeName"}), now, news_takes);
}

std::string DeadNodeInvariants::unstill(Time wall) const {
  for (const auto& [name, pod] : pods_) {
    const auto node = nodes_.find(text_at(pod.get(), {"spec", "nodeName"}));
    const auto ends = end_of_grace(pod.get());
    if (node == nodes_.end() || node->second.ready || !ends || wall < *ends + kMarkedWithin ||
        !record_of(*pod) || text_at(pod.get(), {"status", "phase"}) == "Failed")
      continue;
    if (!marked(pod.get()))
      return fmt::format("{} can't leave {}, and is not marked", name, node->first);
    const auto job = std::ranges::find_if(jobs_, [&](const auto& one) {
      return text_at(one.second.get(), {"metadata", "uid"}) == owner_uid(*pod);
    });
    if (job == jobs_.end() || has_job_ended(*job->second) ||
        at(job->second.get(), {"spec", "podFailurePolicy"}) != nullptr)
      continue;
    if (text_at(job->second.get(), {"spec", "podReplacementPolicy"}) == "Failed")
      return fmt::format("Job {} replaces no pod before {} has left {}", job->first, name,
                         node->first);
  }
  return "";
}

}  // namespace berth::explore
