// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/replica_sets.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "controller/sim/kube/workload.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;

std::size_t replicas_of(const json& set) {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(0, integer_at(set, {"spec", "replicas"}).value_or(1)));
}

}  // namespace

ReplicaSets::ReplicaSets(Simulation& simulation, const KubeOptions& options,
                         const Relations& relations)
    : simulation_(simulation),
      relations_(relations),
      client_(simulation.server(), "replicaset-controller"),
      queue_(simulation, options.controller_lag, [this](const StoreKey& key) { look_at(key); }),
      creations_(simulation, client_, queue_) {}

void ReplicaSets::on_change(const Change& change) {
  if (is(change.key, "replicasets")) queue_.wake(change.key);
  if (is(change.key, "pods")) wake_controller(queue_, change, "replicasets");
}

void ReplicaSets::look_at(const StoreKey& key) {
  const ObjectPtr set = simulation_.store().find(key);
  if (set == nullptr || is_terminating(*set) || creations_.under_way(key)) return;
  std::vector<ObjectPtr> active = relations_.controlled_by(uid_of(*set));
  std::erase_if(active, [](const ObjectPtr& pod) { return !is_active(*pod); });
  const std::size_t wanted = replicas_of(*set);
  for (std::size_t i = active.size(); i < wanted; ++i) creations_.create(key, make_pod(*set));
  if (active.size() > wanted) remove_some(active, active.size() - wanted);
  report(key, *set);
}

// Deletes the least useful pods first.
void ReplicaSets::remove_some(std::vector<ObjectPtr> pods, std::size_t surplus) {
  std::ranges::sort(pods, {}, [](const ObjectPtr& pod) {
    return std::tuple(!node_of(*pod).empty(), is_true(*pod, "Ready"), name_of(*pod));
  });
  pods.resize(surplus);
  for (const ObjectPtr& pod : pods) client_.remove("pods", namespace_of(*pod), name_of(*pod));
}

void ReplicaSets::report(const StoreKey& key, const json& set) {
  int active = 0, ready = 0;
  for (const ObjectPtr& pod : relations_.controlled_by(uid_of(set))) {
    if (!is_active(*pod)) continue;
    ++active;
    ready += is_true(*pod, "Ready") ? 1 : 0;
  }
  json status = {{"replicas", active},
                 {"fullyLabeledReplicas", active},
                 {"readyReplicas", ready},
                 {"availableReplicas", ready},
                 {"observedGeneration", integer_at(set, {"metadata", "generation"}).value_or(0)}};
  write_status(client_, key, set, std::move(status));
}

}  // namespace berth::sim
