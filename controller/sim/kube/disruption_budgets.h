// SPDX-License-Identifier: Apache-2.0
// DisruptionBudgets: the controller that updates the status of PodDisruptionBudgets, which
// evictions use up. An eviction knows only what this controller has seen.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/kube/kube_actors.h"

namespace berth::sim {

class DisruptionBudgets {
 public:
  DisruptionBudgets(Simulation& simulation, const KubeOptions& options);

  void on_change(const Change& change);

 private:
  // How many pods there should be, and how many of them must be healthy.
  struct Goal {
    std::int64_t expected = 0;
    std::int64_t healthy = 0;
  };

  void look_at(const StoreKey& key);
  // nullopt: the budget needs a scale, and a pod's controller has none.
  std::optional<Goal> compute_goal(const nlohmann::json& budget,
                                   const std::vector<ObjectPtr>& pods) const;
  std::optional<std::int64_t> compute_scale(const std::vector<ObjectPtr>& pods) const;
  // status.disruptedPods without pods that are gone, and without those that will never go.
  nlohmann::json believe_disrupted(const StoreKey& key, const nlohmann::json& budget);

  Simulation& simulation_;
  ActorClient client_;
  ActorQueue queue_;
};

}  // namespace berth::sim
