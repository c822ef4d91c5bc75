// SPDX-License-Identifier: Apache-2.0
// TrainingJobs: a foreign controller, modelled as far as evictions matter: TFJobs of kubeflow.org,
// with the given number of pods for each role. The role's restartPolicy decides whether a failed
// pod is re-created or fails the whole job for good. Nothing on the pod shows that.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/kube/pod_creations.h"
#include "controller/sim/kube/relations.h"

namespace berth::sim {

class TrainingJobs {
 public:
  TrainingJobs(Simulation& simulation, const KubeOptions& options, const Relations& relations);

  void on_change(const Change& change);

 private:
  void look_at(const StoreKey& key);
  void fail(const StoreKey& key, const nlohmann::json& job, const std::string& role);
  void replace(const StoreKey& key, const nlohmann::json& job, const std::string& role,
               const nlohmann::json& spec);

  Simulation& simulation_;
  const Relations& relations_;
  ActorClient client_;
  ActorQueue queue_;
  PodCreations creations_;
  // Jobs (uid) and roles with a failed pod, even if the pod is already gone.
  std::set<std::pair<std::string, std::string>> failed_;
};

}  // namespace berth::sim
