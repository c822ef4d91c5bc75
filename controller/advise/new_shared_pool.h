// SPDX-License-Identifier: Apache-2.0
// NewSharedPool: proposes to share the GPUs of some nodes of a pool, for owners whose pods use so
// little of a GPU that a part suffices and that no MIG profile serves as well. Sharing weakens
// isolation. berth therefore proposes it only on request, and only pods that request
// nvidia.com/gpu.shared get a part: existing manifests never land on a shared GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/advise/right_size.h"

namespace berth::advise {

struct ProposedPool {
  std::string name;                // "web-shared-by-4"
  std::string from;                // the pool that owns the nodes now
  std::vector<std::string> nodes;  // by label kubernetes.io/hostname, at most kMaxSelectorValues
  SharingStrategy strategy = SharingStrategy::kTimeSlicing;
  std::int32_t replicas = 0;
  std::int64_t gpus = 0;            // of those nodes
  std::vector<std::string> owners;  // their pods hold whole GPUs now; by name
  std::int64_t others = 0;          // GPU pods of other owners there, which must move
};

// For each pool and product, the pools that free more GPUs for other owners than they take. Among
// equal ones, the one with the most parts wins. The advice of each moved owner is updated. It uses
// MPS, which allots memory and time in equal parts, if all owners are known to stay within a part.
// Else it uses time-slicing, where a burst may use the whole GPU while the others are idle.
std::vector<ProposedPool> propose_shared_pools(const Snapshot& snapshot,
                                               const GPUClusterPolicy& policy,
                                               std::vector<OwnerAdvice>& advices);

}  // namespace berth::advise
