// SPDX-License-Identifier: Apache-2.0
// DaemonSets: one pod on every node that the template's node selector and tolerations allow,
// cordoned or not. If a node's label no longer matches, its pod is deleted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/kube/pod_creations.h"
#include "controller/sim/kube/relations.h"

namespace berth::sim {

class DaemonSets {
 public:
  DaemonSets(Simulation& simulation, const KubeOptions& options, const Relations& relations);

  void on_change(const Change& change);

 private:
  void look_at(const StoreKey& key);
  void create_on(const std::string& node, const StoreKey& key, const nlohmann::json& set);
  // Deletes all pods but one, and also that one if it must not run.
  void thin_out(const StoreKey& key, const std::vector<ObjectPtr>& pods, bool may_run);
  bool is_worth_keeping(const StoreKey& key, const nlohmann::json& pod);
  void report(const StoreKey& key, const nlohmann::json& set, int desired);

  Simulation& simulation_;
  const Relations& relations_;
  ActorClient client_;
  std::map<StoreKey, MonotonicTime> failed_since_;  // by pod
  ActorQueue queue_;
  PodCreations creations_;
};

}  // namespace berth::sim
