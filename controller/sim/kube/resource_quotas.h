// SPDX-License-Identifier: Apache-2.0
// ResourceQuotas: the controller that copies a quota's limits into its status and counts what the
// namespace's pods use: after an edit, when a pod has ended or is gone, and every five minutes.
// Admission counts new pods at once (resource_quota.h).
#pragma once

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/kube/kube_actors.h"

namespace berth::sim {

class ResourceQuotas {
 public:
  ResourceQuotas(Simulation& simulation, const KubeOptions& options);

  void on_change(const Change& change);

 private:
  void look_at(const StoreKey& key);

  Simulation& simulation_;
  ActorClient client_;
  ActorQueue queue_;
};

}  // namespace berth::sim
