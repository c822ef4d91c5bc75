// SPDX-License-Identifier: Apache-2.0
// GpuUse: what pools and pods do with their GPUs, from the samples and the cluster. A GPU counts as
// idle only if it was measured to be idle. A pod with one unmeasured GPU is not idle.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/core/snapshot.h"

namespace berth {

enum class UseState {
  kUnknown,  // not measured, or not for long enough
  kBusy,
  kIdle,  // all of its GPUs are below the threshold for the whole window
};

struct PodUse {
  const Pod* pod = nullptr;
  std::int64_t gpus = 0;  // GPUs and instances that it holds in the samples
  UseState standing = UseState::kUnknown;
  std::optional<Time> since;  // if idle: when the last of its GPUs became quiet
  bool quiet = false;         // all of its GPUs are quiet now, for however long
};

struct PoolUse {
  double activity = 0;        // sum over the measured GPUs, 0 to 1 each
  std::int64_t measured = 0;  // GPUs
  // GPUs that pods hold, if all of these pods are idle on it and none is excluded.
  std::int64_t idle = 0;
  std::optional<std::int32_t> percent() const;
};

struct GpuUse {
  std::vector<PoolUse> pools;   // in the spec's order
  PoolUse total;                // over all pools
  std::vector<PodUse> pods;     // pods with GPUs in the samples, by namespace and name
  std::int64_t unmeasured = 0;  // GPU pods on nodes of pools that no fresh sample names
  // The time until one more pod is idle, if nothing changes.
  std::optional<Duration> next_in;
};
GpuUse survey_use(const Snapshot& snapshot, const GPUClusterPolicy& policy);
// Surveys the pods of one node only.
std::vector<PodUse> survey_node(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                const Node& node);

// Returns why the exporter on the pod's node does not confirm that all GPUs of the pod are idle.
// Empty: it confirms it, or the GPUs are not measured by Prometheus.
std::string why_not_confirmed(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                              const Node& node, const Pod& pod);

// Whether the policy excludes the pod from everything that looks for idle GPUs.
bool is_excluded(const IdleSpec& idle, const Pod& pod);

}  // namespace berth
