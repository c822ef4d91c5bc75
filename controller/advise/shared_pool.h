// SPDX-License-Identifier: Apache-2.0
// SharedPool: finds an existing shared pool for owners that use so little that a part suffices. It
// weakens isolation of memory and faults, so berth advises it only on request.
#pragma once

#include <cstdint>
#include <string_view>

#include "controller/core/snapshot.h"

namespace berth::advise {

// Among the shared pools that the namespace may use, the one with the most parts of which one is at
// least `percent` of a GPU; nullptr: none.
const PoolSpec* smallest_shared_pool(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                     std::string_view namespace_, std::int64_t percent);

}  // namespace berth::advise
