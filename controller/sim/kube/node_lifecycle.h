// SPDX-License-Identifier: Apache-2.0
// NodeLifecycle: the controller that turns a cordon into a taint, sets a silent node's condition to
// Unknown, and taints nodes that are not ready.
#pragma once

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/kube/kubelet.h"
#include "controller/sim/kube/relations.h"

namespace berth::sim {

class NodeLifecycle {
 public:
  NodeLifecycle(Simulation& simulation, const Kubelets& kubelets, const Relations& relations);

  void on_change(const Change& change);
  // Call it when a kubelet becomes silent.
  void watch_silence(const std::string& node);

 private:
  void look_at(const StoreKey& key);
  void call_unknown(const StoreKey& key, const nlohmann::json& node);
  nlohmann::json compute_taints(const nlohmann::json& node) const;

  Simulation& simulation_;
  const Kubelets& kubelets_;
  const Relations& relations_;
  ActorClient client_;
  ActorQueue queue_;
};

}  // namespace berth::sim
