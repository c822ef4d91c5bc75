// SPDX-License-Identifier: Apache-2.0
// PodCreations: the pods that one of Kubernetes' controllers has asked for and not heard of yet.
// Until it has, it does not look at their owner again, as a worker of the real one would be busy
// with it; what is refused is tried again, later and later.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>

#include "controller/sim/actor_client.h"
#include "controller/sim/actor_queue.h"

namespace berth::sim {

class PodCreations {
 public:
  // Whose pods they are is looked at again through `queue`.
  PodCreations(Simulation& simulation, const ActorClient& client, ActorQueue& queue)
      : simulation_(simulation), client_(client), queue_(queue) {}
  PodCreations(const PodCreations&) = delete;
  PodCreations& operator=(const PodCreations&) = delete;

  void create(const StoreKey& owner, nlohmann::json pod);
  bool under_way(const StoreKey& owner) const;

 private:
  struct Owner {
    int under_way = 0;
    bool refused = false;  // one of those that were under way together
    int rounds_refused = 0;
  };
  void hear(const StoreKey& owner, bool ok, bool held);

  Simulation& simulation_;
  const ActorClient& client_;
  ActorQueue& queue_;
  std::map<StoreKey, Owner> owners_;
};

}  // namespace berth::sim
