// SPDX-License-Identifier: Apache-2.0
// Scheduler: kube-scheduler's filters for requests, cordon, taints and node affinity, and a
// deterministic choice. It decides at once and binds after a delay. Meanwhile the pod counts as
// bound, and it does not check the node again.
#pragma once

#include <map>
#include <set>
#include <string>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/kube/relations.h"
#include "controller/sim/world/node_fit.h"

namespace berth::sim {

class Scheduler {
 public:
  Scheduler(Simulation& simulation, const KubeOptions& options, const Relations& relations);

  void on_change(const Change& change);

 private:
  struct Assumed {
    std::string uid;
    std::string node;
    Amounts requests;
  };

  void decide(const StoreKey& key);
  void bind(const StoreKey& key);
  std::string choose(const nlohmann::json& pod, std::map<std::string, int>& refusals) const;
  Amounts free_on(const std::string& name, const nlohmann::json& node) const;
  void report_unschedulable(const StoreKey& key, const nlohmann::json& pod,
                            const std::map<std::string, int>& refusals);
  void retry();

  Simulation& simulation_;
  const KubeOptions& options_;
  const Relations& relations_;
  Random random_;
  ActorClient client_;
  std::map<StoreKey, Assumed> assumed_;  // decided, not yet bound
  std::set<StoreKey> unschedulable_;
  ActorQueue decisions_;
  ActorQueue bindings_;
};

}  // namespace berth::sim
