// SPDX-License-Identifier: Apache-2.0
// Recut: which other MIG instances would fit into the place of one instance, whatever else is on
// its GPU.
#pragma once

#include <string>
#include <vector>

#include "apis/kinds/core.h"
#include "controller/fleet/geometry.h"

namespace berth {

struct Recut {
  const Profile* profile = nullptr;  // of the same product, without attributes
  int count = 0;                     // this many of it alone, in place of one instance
};

// The largest profile comes first. Profiles as large as the instance itself are left out.
std::vector<Recut> recuts_of(const Product& product, const Profile& instance);

// Describes this for the MIG instances that a pod on the node requests: "an instance of
// nvidia.com/mig-3g.40gb could be 1 of nvidia.com/mig-2g.20gb or 3 of nvidia.com/mig-1g.10gb".
// Empty: it requests none, the instances can't be divided further, or berth does not know the GPUs.
std::string describe_recuts(const Node& node, const Pod& pod);

}  // namespace berth
