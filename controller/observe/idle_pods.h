// SPDX-License-Identifier: Apache-2.0
// IdlePods: pods whose idle GPUs berth may reclaim, and from when on. berth first warns a pod by
// annotation gpu.berth.dev/reclaim-after, which survives a restart of berth. Whether the pod is
// still idle, only a fresh sample decides.
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
  Time since{};  // since when its GPUs are idle
  Time due{};    // berth does not reclaim them before
};
// Returns the pods that berth has warned, due or not, by namespace and name, if they are still idle
// and not excluded. Empty if the policy reclaims nothing.
std::vector<IdlePod> find_idle_pods(const Snapshot& snapshot, const GPUClusterPolicy& policy);

// Whether the policy reclaims GPUs and may reclaim those of the pod. It may not if the pod is in a
// system namespace, has no controller that would re-create it, is excluded by the policy, or
// belongs to a DaemonSet or a node.
bool may_lose_gpus(const GPUClusterPolicy& policy, const Settings& settings, const Pod& pod);

// Whether the exporter on the pod's node confirms that the pod is idle. True if the GPUs are not
// measured by Prometheus.
bool is_confirmed(const Snapshot& snapshot, const GPUClusterPolicy& policy, const Pod& pod);

// Reports the pods that keep their GPUs because no exporter confirms that they are idle; nothing:
// there are none.
std::optional<Cause> idle_not_confirmed(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                        const GpuUse& use);

// Returns the time in annotation reclaim-after; nothing if the pod lacks it or annotation
// idle-since, or the text is no time.
std::optional<Time> reclaim_after(const Pod& pod);

// The pods that have annotation reclaim-after. A view (core/view.h).
class WarnedPods {
 public:
  void follow(const Change<Pod>& change);
  const std::map<std::string, const Pod*, std::less<>>& all() const { return all_; }

 private:
  std::map<std::string, const Pod*, std::less<>> all_;  // by namespace and name
};

}  // namespace berth
