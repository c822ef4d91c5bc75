// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/taint_eviction.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/sim/world/node_fit.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;
using std::chrono::seconds;

std::map<std::string, const json*> no_execute_taints(const json& node) {
  std::map<std::string, const json*> taints;
  if (const json* all = find_at(node, {"spec", "taints"}))
    for (const json& taint : *all)
      if (text_at(taint, {"effect"}) == "NoExecute") taints[text_at(taint, {"key"})] = &taint;
  return taints;
}

// How long the pod tolerates the taint: zero, some time, or forever (nullopt). Admission adds 300 s
// for not-ready and unreachable to every pod without its own toleration.
std::optional<seconds> patience(const json& pod, const json& taint) {
  bool tolerated = false;
  std::optional<seconds> shortest;
  if (const json* tolerations = find_at(pod, {"spec", "tolerations"})) {
    for (const json& toleration : *tolerations) {
      if (!tolerates(toleration, taint)) continue;
      tolerated = true;
      const auto limit = integer_at(toleration, {"tolerationSeconds"});
      if (limit) shortest = std::min(shortest.value_or(seconds(*limit)), seconds(*limit));
    }
  }
  if (tolerated) return shortest;
  const std::string key = text_at(taint, {"key"});
  const bool by_admission =
      key == "node.kubernetes.io/not-ready" || key == "node.kubernetes.io/unreachable";
  return seconds(by_admission ? 300 : 0);
}

}  // namespace

TaintEviction::TaintEviction(Simulation& simulation, const KubeOptions& options,
                             const Relations& relations)
    : simulation_(simulation),
      relations_(relations),
      client_(simulation.server(), "taint-eviction-controller"),
      queue_(simulation, options.controller_lag, [this](const StoreKey& key) { look_at(key); }) {}

void TaintEviction::on_change(const Change& change) {
  const bool deleted = change.kind == Change::Kind::kDeleted;
  if (is(change.key, "pods") && !deleted && tainted_since_.contains(node_of(*change.after)))
    queue_.wake(change.key);
  if (!is(change.key, "nodes")) return;
  const auto taints =
      deleted ? decltype(no_execute_taints(*change.after))() : no_execute_taints(*change.after);
  if (taints.empty()) {
    tainted_since_.erase(change.key.name);
    return;
  }
  auto& since = tainted_since_[change.key.name];
  bool more = false;
  std::erase_if(since, [&](const auto& old) { return !taints.contains(old.first); });
  for (const auto& [key, taint] : taints) more |= since.emplace(key, simulation_.now()).second;
  if (!more) return;
  for (const ObjectPtr& pod : relations_.pods_on(change.key.name))
    queue_.wake(key_of("pods", *pod));
}

std::optional<MonotonicTime> TaintEviction::compute_due(const json& pod, const json& node) {
  std::optional<MonotonicTime> due;
  for (const auto& [key, taint] : no_execute_taints(node)) {
    const std::optional<seconds> stands = patience(pod, *taint);
    if (!stands) continue;
    const MonotonicTime end = tainted_since_[name_of(node)][key] + *stands;
    due = std::min(due.value_or(end), end);
  }
  return due;
}

void TaintEviction::look_at(const StoreKey& key) {
  const ObjectPtr pod = simulation_.store().find(key);
  if (pod == nullptr || is_terminating(*pod)) return;
  const ObjectPtr node = simulation_.store().find(node_key(node_of(*pod)));
  if (node == nullptr) return;
  const auto due = compute_due(*pod, *node);
  if (!due) return;
  if (*due > simulation_.now()) return queue_.wake(key, *due - simulation_.now());
  const NewCondition target{"DisruptionTarget", "True", "DeletionByTaintManager",
                            "Taint manager: deleting due to NoExecute taint"};
  json patch;
  patch["status"]["conditions"] = with_condition(*pod, target, simulation_.clock().wall());
  client_.merge_patch("pods", key.namespace_, key.name, std::move(patch), "status");
  client_.remove("pods", key.namespace_, key.name);
}

}  // namespace berth::sim
