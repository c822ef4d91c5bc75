// SPDX-License-Identifier: Apache-2.0
// SharedPool: a pool whose GPUs are shared already, for who uses so little that a part would do. It
// weakens isolation: memory and faults are no longer kept apart. Only who asks for it is told.
#pragma once

#include <cstdint>
#include <string_view>

#include "controller/core/snapshot.h"

namespace berth::advise {

// Of the pools whose whole GPUs are shared and that the namespace may use, the one with the most
// parts of which one is still `percent` of a GPU or more; null: none.
const PoolSpec* smallest_shared_pool(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                     std::string_view namespace_, std::int64_t percent);

}  // namespace berth::advise
