// SPDX-License-Identifier: Apache-2.0
// GpuUse: what pools and pods do with their GPUs, out of the samples and the cluster. Idle is only
// what was measured to be: a GPU that nobody measures, and a pod of which one GPU is not measured,
// are not.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/core/snapshot.h"

namespace berth {

enum class UseState {
  kUnknown,  // not measured, or not for long enough
  kBusy,
  kIdle,  // all of its GPUs, below the threshold for the whole window
};

struct PodUse {
  const Pod* pod = nullptr;
  std::int64_t gpus = 0;  // that it holds a part of, by the samples
  UseState standing = UseState::kUnknown;
  std::optional<Time> since;  // of an idle one: when the last of its GPUs fell quiet
  bool quiet = false;         // all of its GPUs now, for however long
};

struct PoolUse {
  double activity = 0;        // summed over the measured GPUs, 0 to 1 each
  std::int64_t measured = 0;  // GPUs
  std::int64_t idle = 0;      // GPUs that pods hold and none of them uses
  std::optional<std::int32_t> percent() const;
};

struct GpuUse {
  std::vector<PoolUse> pools;   // in the spec's order
  PoolUse total;                // over all pools
  std::vector<PodUse> pods;     // that hold GPUs and are in the samples, by namespace and name
  std::int64_t unmeasured = 0;  // bound GPU pods of nodes in pools that are in no fresh sample
  // When one more pod is idle, if nothing changes.
  std::optional<Duration> next_in;
};
GpuUse survey_use(const Snapshot& snapshot, const GPUClusterPolicy& policy);
// Of one node alone what its pods do.
std::vector<PodUse> survey_node(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                const Node& node);

// Why the exporter on the pod's node does not confirm that all GPUs of the pod are idle. Empty: it
// does, or no Prometheus measures.
std::string why_not_confirmed(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                              const Node& node, const Pod& pod);

// Left alone by everything that looks for idle GPUs.
bool is_excluded(const IdleSpec& idle, const Pod& pod);

}  // namespace berth
