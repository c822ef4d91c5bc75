// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/pod_gc.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

// One sweep every 20 s; a node counts as gone after 40 s.
constexpr auto kSweep = 20s;
constexpr auto kQuarantine = 40s;

}  // namespace

PodGc::PodGc(Simulation& simulation, const Relations& relations)
    : simulation_(simulation),
      relations_(relations),
      client_(simulation.server(), "pod-garbage-collector"),
      queue_(simulation, kSweep, [this](const StoreKey& key) { look_at(key); }) {}

void PodGc::on_change(const Change& change) {
  const bool deleted = change.kind == Change::Kind::kDeleted;
  if (is(change.key, "nodes") && deleted) {
    for (const ObjectPtr& pod : relations_.pods_on(change.key.name))
      queue_.wake(key_of("pods", *pod), kQuarantine + kSweep);
  }
  if (!is(change.key, "pods") || deleted) return;
  const std::string node = node_of(*change.after);
  const bool was_bound = change.before != nullptr && !node_of(*change.before).empty();
  if (node.empty() && is_terminating(*change.after)) queue_.wake(change.key);
  if (!node.empty() && !was_bound && simulation_.store().find(node_key(node)) == nullptr)
    queue_.wake(change.key, kQuarantine + kSweep);
}

void PodGc::look_at(const StoreKey& key) {
  const ObjectPtr pod = simulation_.store().find(key);
  if (pod == nullptr) return;
  const std::string node = node_of(*pod);
  if (node.empty() ? !is_terminating(*pod) : simulation_.store().find(node_key(node)) != nullptr)
    return;
  if (!is_finished(*pod)) {
    json status;
    status["phase"] = "Failed";
    const NewCondition target{"DisruptionTarget", "True", "DeletionByPodGC",
                              "PodGC: node no longer exists"};
    if (!node.empty())
      status["conditions"] = with_condition(*pod, target, simulation_.clock().wall());
    client_.merge_patch("pods", key.namespace_, key.name, {{"status", status}}, "status");
  }
  const json at_once = {{"gracePeriodSeconds", 0}, {"preconditions", {{"uid", uid_of(*pod)}}}};
  client_.remove("pods", key.namespace_, key.name, at_once);
}

}  // namespace berth::sim
