// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/kubelet.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/time.h"
#include "controller/sim/kube/pod_address.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

// Real kubelets report every 5 minutes if nothing changes. The simulation omits the node lease,
// because no program here reads it.
constexpr auto kHeartbeat = 5min;
constexpr auto kNodeReadyAfter = 1s;

bool restarts(const json& pod, bool succeeded) {
  const std::string policy = text_at(pod, {"spec", "restartPolicy"});
  return policy == "OnFailure" ? !succeeded : policy != "Never";
}

}  // namespace

Kubelets::Kubelets(Simulation& simulation, const KubeOptions& options, const Relations& relations)
    : simulation_(simulation),
      options_(options),
      relations_(relations),
      client_(simulation.server(), "kubelet"),
      pods_(simulation, options.controller_lag, [this](const StoreKey& key) { look_at_pod(key); }),
      nodes_(simulation, kHeartbeat, [this](const StoreKey& key) { look_at_node(key); }) {}

void Kubelets::on_change(const Change& change) {
  const bool deleted = change.kind == Change::Kind::kDeleted;
  if (is(change.key, "nodes")) {
    if (!deleted && (change.before == nullptr || !is_true(*change.after, "Ready")))
      nodes_.wake(change.key, kNodeReadyAfter);
    if (change.kind == Change::Kind::kAdded) wake_pods(change.key.name);
    return;
  }
  if (!is(change.key, "pods")) return;
  if (deleted)
    runs_.erase(change.key);
  else if (!node_of(*change.after).empty())
    pods_.wake(change.key);
}

// --- nodes ---

void Kubelets::stop(const std::string& node) { dead_.emplace(node, simulation_.now()); }

void Kubelets::start(const std::string& node) {
  if (dead_.erase(node) == 0) return;
  nodes_.wake(node_key(node), kNodeReadyAfter);
  wake_pods(node);
}

void Kubelets::wake_pods(const std::string& node) {
  for (const ObjectPtr& pod : relations_.pods_on(node)) pods_.wake(key_of("pods", *pod));
}

std::optional<MonotonicTime> Kubelets::silent_since(const std::string& node) const {
  const auto found = dead_.find(node);
  return found == dead_.end() ? std::nullopt : std::optional(found->second);
}

void Kubelets::look_at_node(const StoreKey& key) {
  const ObjectPtr node = simulation_.store().find(key);
  if (node == nullptr || dead_.contains(key.name)) return;
  const NewCondition ready{"Ready", "True", "KubeletReady", "kubelet is posting ready status"};
  json patch;
  json& conditions = patch["status"]["conditions"] =
      with_condition(*node, ready, simulation_.clock().wall());
  for (json& condition : conditions) condition["lastHeartbeatTime"] = now_text();
  client_.merge_patch("nodes", "", key.name, std::move(patch), "status");
  nodes_.wake(key);
}

// --- pods ---

Kubelets::Run& Kubelets::run_of(const StoreKey& key, const json& pod) {
  Run& run = runs_[key];
  if (run.uid != uid_of(pod)) {
    run = Run();
    run.uid = uid_of(pod);
    run.node = node_of(pod);
    run.start_due = simulation_.now() + options_.pod_start;
  }
  return run;
}

void Kubelets::look_at_pod(const StoreKey& key) {
  const ObjectPtr pod = simulation_.store().find(key);
  if (pod == nullptr || node_of(*pod).empty() || dead_.contains(node_of(*pod))) return;
  Run& run = run_of(key, *pod);
  if (is_terminating(*pod)) return stop_pod(key, *pod, run);
  if (is_finished(*pod)) return;
  if (run.ended && !restarts(*pod, *run.ended))
    return end(key, *pod, *run.ended ? "Succeeded" : "Failed", "", "");
  run.ended.reset();
  if (text_at(*pod, {"status", "phase"}) != "Running" && !run.admitted)
    admit(key, *pod, run);
  else if (!is_true(*pod, "Ready"))
    start_pod(key, *pod, run);
}

// The resources of pods that the kubelet has admitted, not of all pods bound to the node.
Amounts Kubelets::held_on(const std::string& node) const {
  Amounts held;
  for (const ObjectPtr& pod : relations_.pods_on(node)) {
    const auto run = runs_.find(key_of("pods", *pod));
    const bool admitted = run != runs_.end() && run->second.admitted;
    if (!is_finished(*pod) && (admitted || text_at(*pod, {"status", "phase"}) == "Running"))
      add(held, requests_of(*pod));
  }
  return held;
}

// A rejection is final: the kubelet never tries the same pod again.
void Kubelets::admit(const StoreKey& key, const json& pod, Run& run) {
  const ObjectPtr node = simulation_.store().find(node_key(node_of(pod)));
  if (node == nullptr) return;
  if (!selects_node(pod["spec"], *node))
    return end(key, pod, "Failed", "NodeAffinity", "Predicate NodeAffinity failed");
  const Amounts requests = requests_of(pod), allocatable = allocatable_of(*node);
  if (const std::string none = find_insufficient(requests, allocatable); is_extended(none)) {
    const auto there = allocatable.find(none);
    if (there == allocatable.end() || there->second.is_zero())
      return end(key, pod, "Failed", "UnexpectedAdmissionError",
                 fmt::format("Allocate failed due to no healthy devices present; cannot allocate "
                             "unhealthy devices {}, which is unexpected",
                             none));
  }
  Amounts free = allocatable;
  subtract(free, held_on(run.node));
  if (const std::string missing = find_insufficient(requests, free); !missing.empty())
    return end(key, pod, "Failed", "OutOf" + missing,
               "Node didn't have enough resource: " + missing);
  run.admitted = true;
  start_pod(key, pod, run);
}

void Kubelets::start_pod(const StoreKey& key, const json& pod, Run& run) {
  if (simulation_.now() < run.start_due) return pods_.wake(key, run.start_due - simulation_.now());
  json status;
  status["phase"] = "Running";
  if (find_at(pod, {"status", "startTime"}) == nullptr) status["startTime"] = now_text();
  // Only the exporters' pods need an address here.
  if (text_at(pod, {"metadata", "labels", "app"}) == kExporterApp)
    status["podIP"] = pod_address(run.node);
  status["conditions"] = with_condition(pod, {"Ready", "True", "", ""}, simulation_.clock().wall());
  client_.merge_patch("pods", key.namespace_, key.name, {{"status", status}}, "status");
}

// Writes the last state before the pod is deleted: a controller that counts the pod may keep it
// with a finalizer.
void Kubelets::stop_pod(const StoreKey& key, const json& pod, Run& run) {
  if (run.hangs || run.gone) return;
  const MonotonicTime now = simulation_.now();
  const std::chrono::seconds grace(
      integer_at(pod, {"metadata", "deletionGracePeriodSeconds"}).value_or(30));
  const MonotonicTime due = now + std::min<std::chrono::nanoseconds>(options_.pod_stop, grace);
  run.stop_due = std::min(run.stop_due.value_or(due), due);
  if (!is_finished(pod)) {
    if (now < *run.stop_due) return pods_.wake(key, *run.stop_due - now);
    end(key, pod, "Failed", "", "");
  }
  run.gone = true;
  const json at_once = {{"gracePeriodSeconds", 0}, {"preconditions", {{"uid", run.uid}}}};
  client_.remove("pods", key.namespace_, key.name, at_once);
}

void Kubelets::end(const StoreKey& key, const json& pod, const std::string& phase,
                   const std::string& reason, const std::string& message) {
  json status;
  status["phase"] = phase;
  if (!reason.empty()) status["reason"] = reason;
  if (!message.empty()) status["message"] = message;
  const NewCondition not_ready{"Ready", "False", phase == "Failed" ? "PodFailed" : "PodCompleted",
                               ""};
  status["conditions"] = with_condition(pod, not_ready, simulation_.clock().wall());
  client_.merge_patch("pods", key.namespace_, key.name, {{"status", status}}, "status");
}

void Kubelets::hang(const StoreKey& key) {
  const ObjectPtr pod = simulation_.store().find(key);
  if (pod != nullptr && !node_of(*pod).empty()) run_of(key, *pod).hangs = true;
}

void Kubelets::finish(const StoreKey& key, bool succeeded) {
  const ObjectPtr pod = simulation_.store().find(key);
  if (pod == nullptr || node_of(*pod).empty()) return;
  run_of(key, *pod).ended = succeeded;
  pods_.wake(key);
}

std::string Kubelets::now_text() const { return format_time(simulation_.clock().wall()); }

}  // namespace berth::sim
