// SPDX-License-Identifier: Apache-2.0
// Proposal: how to partition nodes so that the advised owners' pods fit: one MIG layout for all
// nodes of a pool with the same partitions. Isolation does not weaken, and owners without advice
// keep whole GPUs. The proposal has pools of shared GPUs only if the user requested them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apis/kinds/mig_layout.h"
#include "controller/advise/new_shared_pool.h"
#include "controller/advise/right_size.h"

namespace berth::advise {

struct ProposedLayout {
  std::string name;  // "advised-inference-a100-80gb-1"
  std::string pool;
  std::string product;             // as in label nvidia.com/gpu.product
  std::vector<std::string> nodes;  // at most limits::kMaxSelectorValues
  std::vector<DeviceLayout> devices;
};

struct Proposal {
  std::vector<ProposedLayout> layouts;
  // Pools with such layouts whose device plugin would not advertise the instances yet, because
  // their migStrategy is not `mixed`.
  std::vector<std::string> pools;
  // Instances for which a pool has too few unpartitioned nodes: "inference: 3 of
  // nvidia.com/mig-1g.10gb". Empty: all instances fit.
  std::vector<std::string> without_room;
  std::vector<ProposedPool> shared;
};

// Proposes layouts for the owners with an advised profile. It takes the nodes with the fewest other
// pods to evict. It skips nodes that are partitioned, that a layout selects, or that are `shared`.
Proposal propose_layouts(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                         const std::vector<OwnerAdvice>& advices,
                         std::vector<ProposedPool> shared = {});

}  // namespace berth::advise
