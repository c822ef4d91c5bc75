// SPDX-License-Identifier: Apache-2.0
// GarbageCollector: deletes objects whose owners are all gone. It also finishes foreground
// deletions and orphaning, which the server delegates by finalizers.
#pragma once

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/kube/relations.h"

namespace berth::sim {

class GarbageCollector {
 public:
  GarbageCollector(Simulation& simulation, const KubeOptions& options, const Relations& relations);

  void on_change(const Change& change);

 private:
  void look_at(const StoreKey& key);
  void finish_foreground(const StoreKey& key, const nlohmann::json& owner);
  void orphan_dependents(const StoreKey& key, const nlohmann::json& owner);
  void collect(const StoreKey& key, const nlohmann::json& object);
  void remove_finalizer(const StoreKey& key, const nlohmann::json& object, const char* finalizer);
  // For a reference inside the namespace; a key without a type means that the kind is not served.
  static StoreKey owner_key(const nlohmann::json& reference, const std::string& namespace_);

  Simulation& simulation_;
  const Relations& relations_;
  ActorClient client_;
  ActorQueue queue_;
};

}  // namespace berth::sim
