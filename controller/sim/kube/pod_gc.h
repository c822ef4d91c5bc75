// SPDX-License-Identifier: Apache-2.0
// PodGc: deletes pods that no kubelet will ever stop: pods of a node that has been gone for some
// time, and pods deleted before they had a node and kept by a finalizer.
#pragma once

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/kube/relations.h"

namespace berth::sim {

class PodGc {
 public:
  PodGc(Simulation& simulation, const Relations& relations);

  void on_change(const Change& change);

 private:
  void look_at(const StoreKey& pod);

  Simulation& simulation_;
  const Relations& relations_;
  ActorClient client_;
  ActorQueue queue_;
};

}  // namespace berth::sim
