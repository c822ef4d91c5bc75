// SPDX-License-Identifier: Apache-2.0
// ReplicaSets: keeps spec.replicas active pods. It replaces a terminating or failed pod at once.
#pragma once

#include <vector>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/kube/pod_creations.h"
#include "controller/sim/kube/relations.h"

namespace berth::sim {

class ReplicaSets {
 public:
  ReplicaSets(Simulation& simulation, const KubeOptions& options, const Relations& relations);

  void on_change(const Change& change);

 private:
  void look_at(const StoreKey& key);
  void remove_some(std::vector<ObjectPtr> pods, std::size_t surplus);
  void report(const StoreKey& key, const nlohmann::json& set);

  Simulation& simulation_;
  const Relations& relations_;
  ActorClient client_;
  ActorQueue queue_;
  PodCreations creations_;
};

}  // namespace berth::sim
