// SPDX-License-Identifier: Apache-2.0
// IdlePods: pods whose idle GPUs may be taken back, from when on. A pod is told first, by its
// annotation gpu.berth.dev/reclaim-after, which a restart does not forget; whether it is idle still
// only a fresh sample tells.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"
#include "controller/core/view.h"
#include "controller/observe/gpu_use.h"

namespace berth {

struct IdlePod {
  const Pod* pod = nullptr;
  Time since{};  // its GPUs are idle
  Time due{};    // and may be taken from it, not before
};
// Those that have been told, whether their time has come or not, by namespace and name: idle now,
// and nobody's exception. None if the policy takes nothing back.
std::vector<IdlePod> find_idle_pods(const Snapshot& snapshot, const GPUClusterPolicy& policy);

// Whether the policy takes GPUs back, and the pod is none that it passes over: the system's, a
// DaemonSet's, one that nobody would make anew, or one that the policy excludes.
bool may_lose_gpus(const GPUClusterPolicy& policy, const Settings& settings, const Pod& pod);

// Whether the node's own exporter shows that it is idle, where a Prometheus told it.
bool is_confirmed(const Snapshot& snapshot, const GPUClusterPolicy& policy, const Pod& pod);

// Pods that keep their GPUs because that is not confirmed; nothing: there are none.
std::optional<Cause> idle_not_confirmed(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                        const GpuUse& use);

// What the pod has been told; nothing if it has not been told both, or it can't be read.
std::optional<Time> reclaim_after(const Pod& pod);

// Pods that have been told. A view (core/view.h).
class WarnedPods {
 public:
  void follow(const Change<Pod>& change);
  const std::map<std::string, const Pod*, std::less<>>& all() const { return all_; }

 private:
  std::map<std::string, const Pod*, std::less<>> all_;  // by namespace and name
};

}  // namespace berth
