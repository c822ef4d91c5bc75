// SPDX-License-Identifier: Apache-2.0
// TaintEviction: deletes pods that do not tolerate a NoExecute taint of their node, at once or
// after their tolerationSeconds. It ignores PodDisruptionBudgets.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/kube/relations.h"

namespace berth::sim {

class TaintEviction {
 public:
  TaintEviction(Simulation& simulation, const KubeOptions& options, const Relations& relations);

  void on_change(const Change& change);

 private:
  void look_at(const StoreKey& pod);
  // When the node's taints cause the pod's deletion; nullopt: never.
  std::optional<MonotonicTime> compute_due(const nlohmann::json& pod, const nlohmann::json& node);

  Simulation& simulation_;
  const Relations& relations_;
  ActorClient client_;
  // Since when a node has a NoExecute taint, by key.
  std::map<std::string, std::map<std::string, MonotonicTime>> tainted_since_;
  ActorQueue queue_;
};

}  // namespace berth::sim
