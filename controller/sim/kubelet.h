// SPDX-License-Identifier: Apache-2.0
// Kubelets: those of all nodes. They admit, start and stop the pods bound to their node, as far as
// the API shows it, and say that the node is ready. One that is dead does nothing until it is back,
// and then looks at everything.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "controller/sim/actor_client.h"
#include "controller/sim/actor_queue.h"
#include "controller/sim/kube_actors.h"
#include "controller/sim/node_fit.h"
#include "controller/sim/relations.h"

namespace berth::sim {

class Kubelets {
 public:
  Kubelets(Simulation& simulation, const KubeOptions& options, const Relations& relations);

  void on_change(const Change& change);

  void stop(const std::string& node);
  void start(const std::string& node);
  // Since when nothing is heard of the node; nothing: its kubelet lives.
  std::optional<MonotonicTime> silent_since(const std::string& node) const;

  void hang(const StoreKey& pod);
  void finish(const StoreKey& pod, bool succeeded);

 private:
  // What the node's runtime knows of a pod, forgotten with it.
  struct Run {
    std::string uid;
    std::string node;
    MonotonicTime start_due{0};
    std::optional<MonotonicTime> stop_due;
    bool admitted = false;
    bool hangs = false;
    bool gone = false;  // and the API server was told so; a finalizer may still hold the object
    std::optional<bool> ended;  // by itself: whether it succeeded
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
