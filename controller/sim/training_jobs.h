// SPDX-License-Identifier: Apache-2.0
// TrainingJobs: a controller of another project, as far as it matters to who evicts pods: TFJobs of
// kubeflow.org, with as many pods of each role as it says. A pod that has failed is made again, or
// fails the whole job, for good: its role's restartPolicy says which, and nothing on the pod does.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>

#include "controller/sim/actor_client.h"
#include "controller/sim/actor_queue.h"
#include "controller/sim/kube_actors.h"
#include "controller/sim/pod_creations.h"
#include "controller/sim/relations.h"

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
  // Jobs (uid) and roles with a failed pod, even if the pod is gone already.
  std::set<std::pair<std::string, std::string>> failed_;
};

}  // namespace berth::sim
