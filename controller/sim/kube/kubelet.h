// SPDX-License-Identifier: Apache-2.0
// Kubelets: the kubelets of all nodes. They admit, start and stop the pods of their node, as far as
// the API shows it, and report the node as ready. A dead kubelet does nothing until it is back, and
// then checks everything.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/kube/relations.h"
#include "controller/sim/world/node_fit.h"

namespace berth::sim {

class Kubelets {
 public:
  Kubelets(Simulation& simulation, const KubeOptions& options, const Relations& relations);

  void on_change(const Change& change);

  void stop(const std::string& node);
  void start(const std::string& node);
  // Since when the node has sent nothing; nullopt: its kubelet is alive.
  std::optional<MonotonicTime> silent_since(const std::string& node) const;

  void hang(const StoreKey& pod);
  void finish(const StoreKey& pod, bool succeeded);

 private:
  // The node's runtime state of a pod, dropped with the pod.
  struct Run {
    std::string uid;
    std::string node;
    MonotonicTime start_due{0};
    std::optional<MonotonicTime> stop_due;
    bool admitted = false;
    bool hangs = false;
    // stopped, and reported to the API server; a finalizer may still keep the object
    bool gone = false;
    std::optional<bool> ended;  // ended by itself: whether it succeeded
  };

  void wake_pods(const std::string& node);
  void look_at_pod(const StoreKey& key);
  void look_at_node(const StoreKey& key);
  void admit(const StoreKey& key, const nlohmann::json& pod, Run& run);
  void start_pod(const StoreKey& key, const nlohmann::json& pod, Run& run);
  void stop_pod(const StoreKey& key, const nlohmann::json& pod, Run& run);
  void end(const StoreKey& key, const nlohmann::json& pod, const std::string& phase,
           const std::string& reason, const std::string& message);
  Run& run_of(const StoreKey& key, const nlohmann::json& pod);
  Amounts held_on(const std::string& node) const;
  std::string now_text() const;

  Simulation& simulation_;
  const KubeOptions& options_;
  const Relations& relations_;
  ActorClient client_;
  std::map<std::string, MonotonicTime> dead_;
  std::map<StoreKey, Run> runs_;
  ActorQueue pods_;
  ActorQueue nodes_;
};

}  // namespace berth::sim
