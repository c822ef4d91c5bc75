// SPDX-License-Identifier: Apache-2.0
// KubeActors: the components that run beside the API server in every cluster, as far as berth can
// see them: scheduler, kubelets, the controllers of DaemonSets, ReplicaSets, Jobs and
// PodDisruptionBudgets, node lifecycle and garbage collection. There is also a foreign controller,
// for TFJobs. Each is level-triggered: a change wakes it, and later it takes one step from the
// state at that time.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "controller/sim/kube/simulation.h"

namespace berth::sim {

struct KubeOptions {
  using Span = std::chrono::nanoseconds;
  // From a pod's creation to its binding. The scheduler decides at the start and binds at the end,
  // so a cordon in between does not stop the binding.
  Span bind_lag_min = std::chrono::milliseconds(5);
  Span bind_lag_max = std::chrono::milliseconds(500);
  Span pod_start = std::chrono::seconds(1);  // from bound to Running and Ready
  // from deletion to removal, at most the pod's grace period
  Span pod_stop = std::chrono::seconds(2);
  Span controller_lag = std::chrono::milliseconds(50);  // of every controller, after a change
};

class KubeActors {
 public:
  KubeActors(Simulation& simulation, KubeOptions options);
  ~KubeActors();

  // A dead kubelet writes nothing: its pods neither start nor stop, and after 40 s the node is
  // NotReady. Node components are pods, so they stop too; they call is_alive().
  void stop_kubelet(const std::string& node);
  void start_kubelet(const std::string& node);
  bool is_alive(const std::string& node) const;
  // The pod's process ignores SIGTERM, and SIGKILL has no effect: the pod stays Terminating.
  void hang(const std::string& namespace_, const std::string& pod);
  // The pod's process ends by itself.
  void finish(const std::string& namespace_, const std::string& pod, bool succeeded);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::sim
