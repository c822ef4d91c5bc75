// SPDX-License-Identifier: Apache-2.0
// Proposal: the nodes that what owners are advised to would need, cut so that it finds room: a
// layout for all nodes of a pool that are cut alike. It weakens nothing: who stays as they are
// keeps whole GPUs. Pools of shared GPUs are in it where they were asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apis/mig_layout.h"
#include "controller/advise/new_shared_pool.h"
#include "controller/advise/right_size.h"

namespace berth::advise {

struct ProposedLayout {
  std::string name;  // "advised-inference-a100-80gb-1"
  std::string pool;
  std::string product;             // as label nvidia.com/gpu.product has it
  std::vector<std::string> nodes;  // at most limits::kMaxSelectorValues
  std::vector<DeviceLayout> devices;
};

struct Proposal {
  std::vector<ProposedLayout> layouts;
  // Pools with such layouts whose device plugin would not show them yet: migStrategy is not
  // `mixed`.
  std::vector<std::string> pools;
  // Instances for which a pool has too few nodes that are not cut already: "inference: 3 of
  // nvidia.com/mig-1g.10gb". Empty where all have room.
  std::vector<std::string> without_room;
  std::vector<ProposedPool> shared;
};

// For the owners that are advised a profile. Nodes are taken where the fewest other pods would have
// to leave; those that are cut, that a layout has, or that are to be `shared`, are left alone.
Proposal propose_layouts(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                         const std::vector<OwnerAdvice>& advices,
                         std::vector<ProposedPool> shared = {});

}  // namespace berth::advise
