// SPDX-License-Identifier: Apache-2.0
// Jobs: creates pods until enough have succeeded, or more have failed than backoffLimit allows. A
// finalizer keeps each pod until it is counted exactly once. A suspended Job creates no pods, and
// its pods are deleted without counting as failures.
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

class Jobs {
 public:
  Jobs(Simulation& simulation, const KubeOptions& options, const Relations& relations);

  void on_change(const Change& change);

 private:
  struct Tally {
    std::int64_t active = 0;
    std::int64_t ready = 0;
    std::int64_t terminating = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
    std::vector<ObjectPtr> counted;  // in this step: their finalizers are removed
    bool failed_more = false;
  };

  void look_at_job(const StoreKey& key, const nlohmann::json& job);
  void look_at_orphan(const nlohmann::json& pod);
  Tally count(const nlohmann::json& job) const;
  void create_missing(const StoreKey& key, const nlohmann::json& job, const Tally& tally);
  // For a suspended Job, or one that was resumed.
  void tell_suspension(const nlohmann::json& job, nlohmann::json& status) const;
  void delete_active(const nlohmann::json& job, bool uncounted);
  void release(const nlohmann::json& pod);

  Simulation& simulation_;
  const Relations& relations_;
  ActorClient client_;
  std::map<StoreKey, MonotonicTime> hold_;  // no new pod before this time, after a failure
  ActorQueue queue_;                        // Jobs, and pods whose Job may be gone
  PodCreations creations_;
};

}  // namespace berth::sim
