// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "apis/base/time.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;

constexpr char kUser[] = "system:kube-scheduler";

bool waits_for_us(const json& pod) {
  if (!pod.contains("spec") || !node_of(pod).empty() || !is_active(pod)) return false;
  const json* gates = find_at(pod, {"spec", "schedulingGates"});
  if (gates != nullptr && !gates->empty()) return false;
  const std::string scheduler = text_at(pod, {"spec", "schedulerName"});
  return scheduler.empty() || scheduler == "default-scheduler";
}

bool holds_room(const json& pod) { return !node_of(pod).empty() && !is_finished(pod); }

// Heartbeats and conditions free no capacity.
bool may_make_room(const json& before, const json& after) {
  return differ(before, after, {"spec"}) || differ(before, after, {"metadata", "labels"}) ||
         differ(before, after, {"status", "allocatable"});
}

std::string refusal(const json& pod, const Amounts& requests, const json& node,
                    const Amounts& free) {
  const json& spec = pod["spec"];
  if (is_cordoned_for(spec, node)) return "node(s) were unschedulable";
  if (const json* taint = find_untolerated(spec, node, {"NoSchedule", "NoExecute"}))
    return fmt::format("node(s) had untolerated taint {{{}: {}}}", text_at(*taint, {"key"}),
                       text_at(*taint, {"value"}));
  if (!selects_node(spec, node)) return "node(s) didn't match Pod's node affinity/selector";
  const std::string missing = find_insufficient(requests, free);
  return missing.empty() ? "" : "Insufficient " + missing;
}

}  // namespace

Scheduler::Scheduler(Simulation& simulation, const KubeOptions& options, const Relations& relations)
    : simulation_(simulation),
      options_(options),
      relations_(relations),
      random_(simulation.fork_random()),
      client_(simulation.server(), kUser),
      decisions_(simulation, nanoseconds(0), [this](const StoreKey& key) { decide(key); }),
      bindings_(simulation, options.bind_lag_max, [this](const StoreKey& key) { bind(key); }) {}

void Scheduler::on_change(const Change& change) {
  const bool deleted = change.kind == Change::Kind::kDeleted;
  if (is(change.key, "nodes")) {
    if (deleted || (change.before != nullptr && !may_make_room(*change.before, *change.after)))
      return;
    return retry();
  }
  if (!is(change.key, "pods")) return;
  if (deleted || !waits_for_us(*change.after)) unschedulable_.erase(change.key);
  if (!deleted && waits_for_us(*change.after)) {
    // The condition PodScheduled is the scheduler's own write.
    if (change.before == nullptr || differ(*change.before, *change.after, {"spec"}))
      decisions_.wake(change.key, nanoseconds(0));
    return;
  }
  const bool held = change.before != nullptr && holds_room(*change.before);
  if (held && (deleted || !holds_room(*change.after))) retry();
}

void Scheduler::retry() {
  for (const StoreKey& key : std::exchange(unschedulable_, {}))
    decisions_.wake(key, nanoseconds(0));
}

void Scheduler::decide(const StoreKey& key) {
  const ObjectPtr pod = simulation_.store().find(key);
  if (pod == nullptr || !waits_for_us(*pod)) return;
  const auto earlier = assumed_.find(key);
  if (earlier != assumed_.end() && earlier->second.uid == uid_of(*pod)) return;
  std::map<std::string, int> refusals;
  const std::string node = choose(*pod, refusals);
  if (node.empty()) {
    unschedulable_.insert(key);
    return report_unschedulable(key, *pod, refusals);
  }
  assumed_[key] = {uid_of(*pod), node, requests_of(*pod)};
  bindings_.wake(key, random_.between(options_.bind_lag_min, options_.bind_lag_max));
}

// The node with most free capacity of the pod's resources, then with the fewest pods, then by name.
std::string Scheduler::choose(const json& pod, std::map<std::string, int>& refusals) const {
  const Amounts requests = requests_of(pod);
  std::tuple<Quantity, std::size_t> best;
  std::string chosen;
  for (const ObjectPtr& node : client_.list("nodes")) {
    const std::string name = name_of(*node);
    const Amounts free = free_on(name, *node);
    if (const std::string why = refusal(pod, requests, *node, free); !why.empty()) {
      ++refusals[why];
      continue;
    }
    Quantity taken;
    for (const auto& [resource, amount] : requests)
      if (is_extended(resource))
        if (const auto found = free.find(resource); found != free.end()) taken -= found->second;
    const auto coming =
        std::ranges::count(assumed_, name, [](const auto& a) { return a.second.node; });
    const std::tuple score(taken, relations_.pods_on(name).size() + coming);
    if (!chosen.empty() && best <= score) continue;
    best = score;
    chosen = name;
  }
  return chosen;
}

Amounts Scheduler::free_on(const std::string& name, const json& node) const {
  Amounts free = allocatable_of(node);
  for (const ObjectPtr& pod : relations_.pods_on(name))
    if (holds_room(*pod)) subtract(free, requests_of(*pod));
  for (const auto& [key, assumed] : assumed_)
    if (assumed.node == name) subtract(free, assumed.requests);
  return free;
}

void Scheduler::report_unschedulable(const StoreKey& key, const json& pod,
                                     const std::map<std::string, int>& refusals) {
  int nodes = 0;
  std::string reasons;
  for (const auto& [reason, count] : refusals) {
    nodes += count;
    reasons += fmt::format("{}{} {}", reasons.empty() ? ": " : ", ", count, reason);
  }
  const std::string message = fmt::format("0/{} nodes are available{}.", nodes, reasons);
  const json* old = condition_of(pod, "PodScheduled");
  if (old != nullptr && text_at(*old, {"message"}) == message) return;
  const NewCondition condition{"PodScheduled", "False", "Unschedulable", message};
  json patch;
  patch["status"]["conditions"] = with_condition(pod, condition, simulation_.clock().wall());
  client_.merge_patch("pods", key.namespace_, key.name, std::move(patch), "status");
}

// Like pods/binding: no update can set a node's name. The server does not check whether the node
// exists.
void Scheduler::bind(const StoreKey& key) {
  const auto found = assumed_.find(key);
  const Assumed assumed = found->second;
  assumed_.erase(found);
  const ObjectPtr pod = simulation_.store().find(key);
  if (pod == nullptr || uid_of(*pod) != assumed.uid || !waits_for_us(*pod)) {
    if (pod != nullptr) decisions_.wake(key, nanoseconds(0));
    return retry();
  }
  json bound = *pod;
  bound["spec"]["nodeName"] = assumed.node;
  bound["status"]["conditions"] =
      with_condition(*pod, {"PodScheduled", "True", "", ""}, simulation_.clock().wall());
  simulation_.store().put(key, std::move(bound), kUser);
}

}  // namespace berth::sim
