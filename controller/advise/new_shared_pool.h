// SPDX-License-Identifier: Apache-2.0
// NewSharedPool: nodes of a pool whose GPUs would be shared, for owners that use so little of one
// each that a part would do, and that no MIG profile serves as well. It weakens isolation: only who
// asks for it is told, and only who asks for nvidia.com/gpu.shared gets a part, so that no manifest
// of old lands on one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/advise/right_size.h"

namespace berth::advise {

struct ProposedPool {
  std::string name;                // "web-shared-by-4"
  std::string from;                // the pool that the nodes are of
  std::vector<std::string> nodes;  // by label kubernetes.io/hostname, at most kMaxSelectorValues
  SharingStrategy strategy = SharingStrategy::kTimeSlicing;
  std::int32_t replicas = 0;
  std::int64_t gpus = 0;            // of those nodes
  std::vector<std::string> owners;  // whose pods hold whole GPUs now, by name
  std::int64_t others = 0;          // pods of others with GPUs there, which have to go elsewhere
};

// Of each pool and product those that leave more GPUs to others than they take; of equal ones with
// the most parts. Whoever goes there has it in his advice from then on. MPS, which allots memory
// and time in equal parts, where all of them are known to stay within; else time-slicing, under
// which a burst may have the whole GPU while the others rest.
std::vector<ProposedPool> propose_shared_pools(const Snapshot& snapshot,
                                               const GPUClusterPolicy& policy,
                                               std::vector<OwnerAdvice>& advices);

}  // namespace berth::advise
