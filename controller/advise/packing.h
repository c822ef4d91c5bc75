// SPDX-License-Identifier: Apache-2.0
// Packing: MIG instances onto as few GPUs of one product as a greedy choice of layouts needs.
#pragma once

#include <vector>

#include "apis/kinds/mig_layout.h"
#include "controller/fleet/geometry.h"

namespace berth::advise {

// The MIG layout of each GPU, the fullest first. Each layout is maximal, so the last GPUs may have
// unrequested instances. Every instance of `wanted` is placed. Profile names that the
// product does not have are ignored.
std::vector<ProfileCounts> pack_instances(const Product& product, const ProfileCounts& wanted);

}  // namespace berth::advise
