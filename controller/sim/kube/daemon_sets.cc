// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/daemon_sets.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "controller/sim/kube/workload.h"
#include "controller/sim/world/node_fit.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

// A failed pod is replaced after this time.
constexpr auto kFailedHold = 5s;

json& node_terms(json& spec) {
  return spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
             ["nodeSelectorTerms"];
}

// The controller adds these tolerations to each of its pods, so that neither a cordon nor a silent
// kubelet evicts the pod.
json own_tolerations() {
  json tolerations;
  const auto tolerate = [&](const char* key, const char* effect) {
    tolerations.push_back({{"key", std::string("node.kubernetes.io/") + key},
                           {"operator", "Exists"},
                           {"effect", effect}});
  };
  for (const char* key : {"not-ready", "unreachable"}) tolerate(key, "NoExecute");
  for (const char* key : {"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"})
    tolerate(key, "NoSchedule");
  return tolerations;
}

void add_tolerations(json& spec) {
  static const json kOwn = own_tolerations();
  for (const json& toleration : kOwn) spec["tolerations"].push_back(toleration);
}

// The parts of a pod's spec that decide its nodes.
json placement_of(const json& set) {
  json spec = json::object();
  for (const char* field : {"nodeSelector", "affinity", "tolerations"})
    if (const json* found = find_at(set, {"spec", "template", "spec", field})) spec[field] = *found;
  add_tolerations(spec);
  return spec;
}

// Pins the pod to one node; the scheduler binds it like any other.
void pin(json& spec, const std::string& node) {
  json& terms = node_terms(spec);
  if (!terms.is_array()) terms = json::array({json::object()});
  for (json& term : terms)
    term["matchFields"] = {
        {{"key", "metadata.name"}, {"operator", "In"}, {"values", json::array({node})}}};
}

std::string node_meant(const json& pod) {
  if (const std::string bound = node_of(pod); !bound.empty()) return bound;
  const json* list =
      find_at(pod, {"spec", "affinity", "nodeAffinity",
                    "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  const auto first = [](const json* of) {
    return of != nullptr && of->is_array() && !of->empty() ? &of->front() : nullptr;
  };
  for (const char* member : {"matchFields", "values"}) {
    const json* holder = first(list);
    list = holder == nullptr ? nullptr : find_at(*holder, {member});
  }
  const json* name = first(list);
  return name == nullptr ? "" : text_at(*name, {});
}

}  // namespace

DaemonSets::DaemonSets(Simulation& simulation, const KubeOptions& options,
                       const Relations& relations)
    : simulation_(simulation),
      relations_(relations),
      client_(simulation.server(), "daemon-set-controller"),
      queue_(simulation, options.controller_lag, [this](const StoreKey& key) { look_at(key); }),
      creations_(simulation, client_, queue_) {}

void DaemonSets::on_change(const Change& change) {
  const bool deleted = change.kind == Change::Kind::kDeleted;
  if (is(change.key, "daemonsets")) queue_.wake(change.key);
  if (is(change.key, "pods")) {
    if (deleted) failed_since_.erase(change.key);
    wake_controller(queue_, change, "daemonsets");
  }
  if (!is(change.key, "nodes")) return;
  if (change.before != nullptr && !deleted && !differ(*change.before, *change.after, {"spec"}) &&
      !differ(*change.before, *change.after, {"metadata", "labels"}))
    return;
  for (const ObjectPtr& set : client_.list("daemonsets")) queue_.wake(key_of("daemonsets", *set));
}

void DaemonSets::look_at(const StoreKey& key) {
  const ObjectPtr set = simulation_.store().find(key);
  if (set == nullptr || is_terminating(*set) || creations_.under_way(key)) return;
  std::map<std::string, std::vector<ObjectPtr>> by_node;
  for (const ObjectPtr& pod : relations_.controlled_by(uid_of(*set)))
    by_node[node_meant(*pod)].push_back(pod);
  const json spec = placement_of(*set);
  int desired = 0;
  for (const ObjectPtr& node : client_.list("nodes")) {
    // A NoSchedule taint keeps new pods off the node, but not the present one.
    const bool may_run =
        selects_node(spec, *node) && find_untolerated(spec, *node, {"NoExecute"}) == nullptr;
    const bool wanted = may_run && find_untolerated(spec, *node, {"NoSchedule"}) == nullptr;
    desired += wanted ? 1 : 0;
    const auto pods = by_node.extract(name_of(*node));
    if (!pods.empty())
      thin_out(key, pods.mapped(), may_run);
    else if (wanted)
      create_on(name_of(*node), key, *set);
  }
  for (const auto& [gone, pods] : by_node) thin_out(key, pods, false);
  report(key, *set, desired);
}

void DaemonSets::create_on(const std::string& node, const StoreKey& key, const json& set) {
  json pod = make_pod(set);
  add_tolerations(pod["spec"]);
  pin(pod["spec"], node);
  creations_.create(key, std::move(pod));
}

void DaemonSets::thin_out(const StoreKey& key, const std::vector<ObjectPtr>& pods, bool may_run) {
  bool kept = false;
  for (const ObjectPtr& pod : pods) {
    if (is_terminating(*pod)) continue;
    if (may_run && !kept && is_worth_keeping(key, *pod))
      kept = true;
    else
      client_.remove("pods", namespace_of(*pod), name_of(*pod));
  }
}

bool DaemonSets::is_worth_keeping(const StoreKey& key, const json& pod) {
  if (!is_finished(pod)) return true;
  const auto [failed, first_seen] = failed_since_.emplace(key_of("pods", pod), simulation_.now());
  const auto left = failed->second + kFailedHold - simulation_.now();
  if (left > 0s) queue_.wake(key, left);
  return left > 0s;
}

void DaemonSets::report(const StoreKey& key, const json& set, int desired) {
  int current = 0, ready = 0;
  for (const ObjectPtr& pod : relations_.controlled_by(uid_of(set))) {
    if (!is_active(*pod)) continue;
    ++current;
    ready += is_true(*pod, "Ready") ? 1 : 0;
  }
  json status;
  status["desiredNumberScheduled"] = desired;
  status["currentNumberScheduled"] = status["updatedNumberScheduled"] = current;
  status["numberReady"] = status["numberAvailable"] = ready;
  status["numberMisscheduled"] = 0;
  status["observedGeneration"] = integer_at(set, {"metadata", "generation"}).value_or(0);
  write_status(client_, key, set, std::move(status));
}

}  // namespace berth::sim
