// SPDX-License-Identifier: Apache-2.0
// KubeActors: what runs beside the API server in every cluster, as far as berth can tell:
// scheduler, kubelets, the controllers of DaemonSets, ReplicaSets, Jobs and PodDisruptionBudgets,
// node lifecycle, garbage collection; and one of another project, of TFJobs. Each is
// level-triggered: a change wakes it, later it looks at what then stands and takes one step.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "controller/sim/simulation.h"

namespace berth::sim {

struct KubeOptions {
  using Span = std::chrono::nanoseconds;
  // From a pod's creation to its binding. The scheduler decides at the beginning and binds at the
  // end of it, so a cordon in between does not keep the pod away.
  Span bind_lag_min = std::chrono::milliseconds(5);
  Span bind_lag_max = std::chrono::milliseconds(500);
  Span pod_start = std::chrono::seconds(1);  // from bound to Running and Ready
  Span pod_stop = std::chrono::seconds(2);   // from deletion to gone, at most its grace period
  Span controller_lag = std::chrono::milliseconds(50);  // of every controller, after a change
};

class KubeActors {
 public:
  KubeActors(Simulation& simulation, KubeOptions options);
  ~KubeActors();

  // A kubelet that is dead writes nothing: its pods neither start nor go, and after 40 s the node
  // is NotReady. Node agents are pods, so they stand still too (is_alive() is for them).
  void stop_kubelet(const std::string& node);
  void start_kubelet(const std::string& node);
  bool is_alive(const std::string& node) const;
  // The pod's process ignores SIGTERM and SIGKILL does not help: it stays Terminating.
  void hang(const std::string& namespace_, const std::string& pod);
  // The pod's process ends by itself, well or badly.
  void finish(const std::string& namespace_, const std::string& pod, bool succeeded);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::sim
