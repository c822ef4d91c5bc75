// SPDX-License-Identifier: Apache-2.0
// PodCreations: the pods that a Kubernetes controller has requested and that are not answered yet.
// Until then it does not process their owner again, as in a real controller, where a worker is busy
// with it. It retries refused creations with backoff.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"

namespace berth::sim {

class PodCreations {
 public:
  // `queue` is woken to process the pods' owner again.
  PodCreations(Simulation& simulation, const ActorClient& client, ActorQueue& queue)
      : simulation_(simulation), client_(client), queue_(queue) {}
  PodCreations(const PodCreations&) = delete;
  PodCreations& operator=(const PodCreations&) = delete;

  void create(const StoreKey& owner, nlohmann::json pod);
  bool under_way(const StoreKey& owner) const;

 private:
  struct Owner {
    int under_way = 0;
    bool refused = false;  // one of the creations in flight was refused
    int rounds_refused = 0;
  };
  void hear(const StoreKey& owner, bool ok, bool held);

  Simulation& simulation_;
  const ActorClient& client_;
  ActorQueue& queue_;
  std::map<StoreKey, Owner> owners_;
};

}  // namespace berth::sim
