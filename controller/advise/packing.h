// SPDX-License-Identifier: Apache-2.0
// Packing: MIG instances onto as few GPUs of one product as a greedy choice of layouts needs.
#pragma once

#include <vector>

#include "apis/mig_layout.h"
#include "controller/fleet/geometry.h"

namespace berth::advise {

// What each GPU is cut into, the fullest first: layouts to which nothing can be added, so what
// nobody asked for fills the last ones. Every instance of `wanted` has its place. Names that the
// product doesn't have are left out.
std::vector<ProfileCounts> pack_instances(const Product& product, const ProfileCounts& wanted);

}  // namespace berth::advise
